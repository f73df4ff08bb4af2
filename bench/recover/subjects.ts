import * as phrases from './phrases.ts';
import type { Random } from './random.ts';
import {
  definitionsOf,
  typeText,
  type ClassShape,
  type Field,
  type Label,
  type Shape,
  type TextShape,
} from './shape.ts';

/** A return type that replies are made for. */
export interface Subject {
  readonly name: string;
  readonly shape: Shape;
}

// --- building types -------------------------------------------------------------------------------------------------

const bool: Shape = { kind: 'bool' };

function text(make: (random: Random) => string, attributes?: string): TextShape {
  return { kind: 'text', make, ...(attributes !== undefined && { attributes }) };
}

function int(least: number, most: number): Shape {
  return { kind: 'int', make: (random) => random.int(least, most) };
}

/** Numbers with a fraction, so that no reader can take them for ints. */
function float(least: number, most: number): Shape {
  return { kind: 'float', make: (random) => random.int(least, most) + random.pick([0.25, 0.5, 0.75, 0.1, 0.99, 0.05]) };
}

function literal(value: string | number | boolean): Shape {
  return { kind: 'literal', value };
}

function enumeration(name: string, values: readonly (string | Label)[]): Shape {
  const labels = values.map((value) => (typeof value === 'string' ? { name: value } : value));
  return { kind: 'enum', name, values: labels };
}

type FieldEntry = Shape | (Omit<Field, 'name'> & { readonly shape: Shape });

function record(name: string, fields: () => Readonly<Record<string, FieldEntry>>): ClassShape {
  return {
    kind: 'class',
    name,
    fields: () =>
      Object.entries(fields()).map(([field, entry]) =>
        'shape' in entry ? { ...entry, name: field } : { name: field, shape: entry },
      ),
  };
}

function list(item: Shape): Shape {
  return { kind: 'list', item };
}

function map(key: Shape, value: Shape): Shape {
  return { kind: 'map', key, value };
}

function optional(inner: Shape): Shape {
  return { kind: 'optional', inner };
}

function union(...members: readonly Shape[]): Shape {
  return { kind: 'union', members };
}

function alias(name: string, target: () => Shape): Shape {
  return { kind: 'alias', name, target };
}

// --- types of fields ------------------------------------------------------------------------------------------------

const name = text(phrases.personName);
const productName = text(phrases.productName);
const sentence = text(phrases.sentence);
const word = text(phrases.word);
const city = text(phrases.city);
/** A word or a sentence, evenly. */
const phrase = text((random) => (random.chance(0.5) ? phrases.word(random) : phrases.sentence(random)));

const Sentiment = enumeration('Sentiment', ['POSITIVE', 'NEGATIVE', 'NEUTRAL']);
const TicketStatus = enumeration('TicketStatus', ['OPEN', 'IN_PROGRESS', 'PAST_DUE', 'CLOSED']);
const Department = enumeration('Department', [
  { name: 'HR', alias: 'human resources', description: 'hiring and contracts' },
  { name: 'IT', alias: 'information technology', description: 'computers and networks' },
  { name: 'FIN', alias: 'finance', description: 'money' },
]);
const Topic = enumeration('Topic', ['SPORTS', 'POLITICS', 'TECHNOLOGY', 'HEALTH', 'CULTURE']);
const Weekday = enumeration('Weekday', ['MONDAY', 'WEDNESDAY', 'FRIDAY', 'SUNDAY']);

const Address = record('Address', () => ({
  street: text(phrases.street),
  city,
  zip_code: text((r) => String(r.int(10000, 99999))),
}));
const Person = record('Person', () => ({ name, age: int(18, 90), email: optional(text(phrases.email)) }));
const Product = record('Product', () => ({
  name: productName,
  price: float(1, 400),
  in_stock: bool,
  tags: list(word),
}));
const Customer = record('Customer', () => ({ full_name: name, address: Address, vip: bool }));
const InvoiceLine = record('InvoiceLine', () => ({
  description: productName,
  quantity: int(1, 20),
  unit_price: float(1, 90),
}));
const Invoice = record('Invoice', () => ({
  invoice_number: text(phrases.identifier),
  customer: Customer,
  lines: list(InvoiceLine),
  total: float(100, 900),
  paid: bool,
}));
const Comment: Shape = record('Comment', () => ({ author: name, message: sentence, replies: list(Comment) }));
const Filters = record('Filters', () => ({
  color: optional(word),
  max_price: optional(float(10, 500)),
  min_rating: optional(int(1, 5)),
  on_sale: optional(bool),
  brands: optional(list(text(phrases.lastName))),
}));
const Contact = record('Contact', () => ({
  first: { shape: text(phrases.firstName), alias: 'first name', description: 'given name, as on the card' },
  last: { shape: text(phrases.lastName), alias: 'lastName' },
  phones: { shape: list(text(phrases.phone)), alias: 'phone-numbers' },
  dept: Department,
}));
const Ticket = record('Ticket', () => ({
  title: sentence,
  status: TicketStatus,
  priority: union(literal('low'), literal('medium'), literal('high')),
  assignee: optional(name),
  comment_count: int(0, 40),
}));
const Circle = record('Circle', () => ({ type: literal('circle'), radius: float(1, 50) }));
const Rectangle = record('Rectangle', () => ({
  type: literal('rectangle'),
  width: float(1, 50),
  height: float(1, 50),
}));
const Polygon = record('Polygon', () => ({ type: literal('polygon'), points: list(list(int(-90, 90))) }));
const SendEmail = record('SendEmail', () => ({
  action: literal('send_email'),
  to: text(phrases.email),
  subject: sentence,
  body: text(phrases.poem),
}));
const CreateTask = record('CreateTask', () => ({
  action: literal('create_task'),
  title: sentence,
  due_date: optional(text(phrases.date)),
}));
const Wait = record('Wait', () => ({ action: literal('wait'), minutes: int(1, 60) }));
const Answer = record('Answer', () => ({
  final_answer: sentence,
  confidence: float(0, 0),
  sources: list(text(phrases.url)),
}));
const Reading = record('Reading', () => ({
  sensor: text(phrases.identifier),
  value: union(
    { kind: 'int', make: (r) => r.int(-99, 400) },
    text(() => 'offline'),
  ),
  unit: word,
}));
const Gauge = record('Gauge', () => ({
  label: word,
  level: union(
    { kind: 'float', make: (r) => r.pick([0.5, 0.25, 0.75, 12.5, 40.1]) },
    text(() => 'overflow'),
  ),
}));
const Shipment = record('Shipment', () => ({
  trackingNumber: text(phrases.identifier),
  itemCount: int(1, 40),
  estimatedDelivery: optional(text(phrases.date)),
  shippedFrom: city,
}));
const Device = record('Device', () => ({
  model: { shape: text(phrases.identifier), alias: 'model-name' },
  watts: { shape: int(5, 2000), alias: 'power-in-watts' },
  portable: { shape: bool, alias: 'is-portable' },
}));
/** Only the checks and the third field tell the two apart. */
const EmailContact = record('EmailContact', () => ({
  owner: name,
  address: { shape: text(phrases.email), attributes: '@check(email, {{ "@" in this }})' },
}));
const PhoneContact = record('PhoneContact', () => ({
  owner: name,
  address: { shape: text(phrases.phone), attributes: '@check(phone, {{ this|length < 18 and "@" not in this }})' },
  extension: optional(int(1, 99)),
}));
const Lead = record('Lead', () => ({
  name,
  contact: union(
    text(phrases.phone, '@check(phone, {{ this|regex_match("^[+0-9 ]+$") }})'),
    text(phrases.email, '@check(email, {{ "@" in this }})'),
  ),
}));
const Author = record('Author', () => ({ pen_name: name, born: int(1800, 1990) }));
const Book = record('Book', () => ({
  title: sentence,
  author: union(Author, text(phrases.lastName)),
  pages: int(20, 900),
}));
const Signup = record('Signup', () => ({
  user_name: text((r) => `${phrases.firstName(r).toLowerCase()}${r.int(10, 99)}`),
  age: { shape: int(18, 99), attributes: '@assert(adult, {{ this >= 18 }})' },
  mail: { shape: text(phrases.email), attributes: '@check(at_sign, {{ "@" in this }})' },
}));
const Article = record('Article', () => ({
  headline: sentence,
  body: text(phrases.markdown),
  word_count: int(100, 5000),
}));
const CodeFile = record('CodeFile', () => ({
  path: text((r) => `src/${phrases.word(r)}.py`),
  code: text(phrases.code),
  language: word,
}));
const Measurement = record('Measurement', () => ({
  station: city,
  temperature: float(-30, 40),
  altitude: int(-400, 4000),
  valid: bool,
}));
const Quote = record('Quote', () => ({ speaker: name, text: text(phrases.quoted), context: optional(sentence) }));
const Letter = record('Letter', () => ({ subject: sentence, body: text(phrases.poem), signed: bool }));
const IntAnswer = record('IntAnswer', () => ({ answer: int(0, 999) }));
const Review = record('Review', () => ({
  rating: union(literal(1), literal(2), literal(3), literal(4), literal(5)),
  sentiment: Sentiment,
  topics: list(Topic),
  verified: bool,
}));
const Team = record('Team', () => ({
  team_name: word,
  lead: optional(Person),
  members: list(Person),
  scores: map(text(phrases.firstName), int(0, 100)),
}));
const NumberNode = record('NumberNode', () => ({ op: literal('number'), value: float(-9, 9) }));
const Sum: Shape = record('Sum', () => ({ op: literal('sum'), left: Expression, right: Expression }));
const Expression: Shape = alias('Expression', () => union(NumberNode, Sum));
const AnyJson: Shape = alias('AnyJson', () => union(word, int(0, 99), bool, list(AnyJson), map(word, AnyJson)));

// --- all types ------------------------------------------------------------------------------------------------------

const RECORDS: readonly Shape[] = [
  Person,
  Product,
  Invoice,
  Comment,
  Filters,
  Contact,
  Ticket,
  Answer,
  Reading,
  Book,
  Signup,
  Article,
  CodeFile,
  Measurement,
  Quote,
  Letter,
  IntAnswer,
  Review,
  Team,
  Gauge,
  Lead,
  Shipment,
  Device,
];

const LISTED: readonly Shape[] = [
  union(EmailContact, PhoneContact),
  Person,
  Product,
  Ticket,
  Measurement,
  Quote,
  union(SendEmail, CreateTask, Wait),
  phrase,
  int(-20, 99),
  float(-5, 60),
  bool,
  Topic,
  list(int(0, 99)),
  list(word),
];

const SCALARS: readonly Shape[] = [int(0, 5000), float(0, 90), bool, Sentiment, TicketStatus, Department];

const UNIONS: readonly Shape[] = [
  union(Circle, Rectangle, Polygon),
  union(PhoneContact, EmailContact),
  union(literal('low'), literal('medium'), literal('high')),
  union(literal('approve'), literal('reject')),
  union(int(1, 99), word),
  union(float(1, 99), bool),
  union(Address, sentence),
  Expression,
  AnyJson,
];

const MAPS: readonly Shape[] = [
  map(word, int(0, 500)),
  map(Weekday, float(0, 20)),
  map(union(literal('en'), literal('de'), literal('fr')), sentence),
  map(text(phrases.firstName), Person),
  map(city, list(word)),
];

export const SUBJECTS: readonly Subject[] = [
  ...RECORDS,
  ...LISTED.map(list),
  ...MAPS,
  ...UNIONS,
  ...SCALARS,
  ...[int(0, 99), Person, Weekday].map(optional),
  sentence,
].map((shape) => ({ name: typeText(shape), shape }));

/** The definition file of all types; `functionOf` names the function of each. */
export function definitionFileOf(subjects: readonly Subject[]): string {
  const functions = subjects.map(
    ({ name: type }, index) =>
      `function ${functionOf(index)}(input: string) -> ${type} {\n  client Any\n  prompt #"{{ input }} {{ ctx.output_format }}"#\n}\n`,
  );
  const client = 'client<llm> Any {\n  provider openai\n  options {\n    model any\n    api_key "none"\n  }\n}\n';
  return [definitionsOf(subjects.map(({ shape }) => shape)), client, ...functions].join('\n');
}

export function functionOf(index: number): string {
  return `Recover${index}`;
}
