import type { Random } from './random.ts';

const FIRST = ['Ada', 'Grace', 'Alan', 'Barbara', 'Edsger', 'Margaret', 'Linus', 'Radia', 'Donald', 'Frances'];
const LAST = ['Lovelace', 'Hopper', 'Turing', 'Liskov', 'Dijkstra', 'Hamilton', 'Perlman', 'Knuth', 'Allen', 'Karp'];
const CITIES = ['Lisbon', 'Nairobi', 'Oslo', 'Kyoto', 'Toronto', 'Lima', 'Porto', 'Ghent', 'Cork', 'Dakar'];
const NOUNS = ['lamp', 'kettle', 'desk', 'monitor', 'bicycle', 'backpack', 'camera', 'keyboard', 'tent', 'heater'];
const ADJECTIVES = ['small', 'quiet', 'red', 'wooden', 'folding', 'portable', 'heavy', 'bright', 'cheap', 'sturdy'];
const WORDS = ['garden', 'summer', 'office', 'travel', 'music', 'kitchen', 'outdoor', 'winter', 'gift', 'sport'];
const SENTENCES = [
  'The delivery arrived two days late and the box was damaged.',
  'Customers like the new dashboard, but they ask for dark mode.',
  'We met on Monday to plan the release; nothing was decided.',
  'It rained all week, so the roof could not be repaired.',
  'The second chapter explains how the engine works.',
  'Battery life is excellent: almost three days of normal use.',
  'Please call me back before noon.',
  'The museum opens at nine and closes at six.',
];
const UNICODE = [
  'Zoë Müller',
  '東京タワー',
  'Café São João',
  'Ελλάδα',
  'Привет, мир',
  'naïve façade',
  'Łódź 🚋',
  '안녕하세요',
];
const CODE = [
  'def area(r):\n    return 3.14 * r ** 2',
  'const add = (a, b) => {\n  return a + b;\n};',
  'for (let i = 0; i < items.length; i++) {\n  console.log(items[i]);\n}',
  'SELECT name, price FROM products WHERE price > 10;',
  'if x == {}:\n    print("empty")',
  'fn main() {\n    println!("hello, {}", name);\n}',
];
const MARKDOWN = [
  '# Title\n\nSome *emphasis* and a [link](https://example.com/a?b=1).',
  '## Steps\n\n- first\n- second\n\n> quoted',
  'Use `npm run build`, then:\n\n```sh\nnode dist/main.js\n```\n\nDone.',
  '**Bold** claim[1]\n\n| a | b |\n|---|---|\n| 1 | 2 |',
];
const QUOTED = [
  'She said "hello" and left.',
  'The so-called "expert" was late, "again".',
  'A 27" monitor and a 24" one',
  'It\'s the dog\'s "favourite" toy',
  'Press "OK", then {Enter} [twice]',
];
const POEMS = [
  'The sun goes down,\nthe lights go on,\nthe town is quiet.',
  'First line.\nSecond line: with a colon.\n\nA new paragraph, with commas.',
  'Dear team,\n\nthank you for the work.\n\nBest,\nAda',
];

/** Makes a string of one kind. */
type Phrase = (random: Random) => string;

const oneOf =
  (items: readonly string[]): Phrase =>
  (random) =>
    random.pick(items);

export const unicode = oneOf(UNICODE);
export const code = oneOf(CODE);
export const markdown = oneOf(MARKDOWN);
export const quoted = oneOf(QUOTED);
export const poem = oneOf(POEMS);
export const firstName = oneOf(FIRST);
export const lastName = oneOf(LAST);
export const city = oneOf(CITIES);
export const word = oneOf(WORDS);
export const sentence = oneOf(SENTENCES);
export const personName: Phrase = (random) => `${firstName(random)} ${lastName(random)}`;
export const productName: Phrase = (random) => `${random.pick(ADJECTIVES)} ${random.pick(NOUNS)}`;
export const email: Phrase = (random) => `${firstName(random)}.${lastName(random)}@example.com`.toLowerCase();
export const phone: Phrase = (random) => `+49 30 ${random.int(100, 999)} ${random.int(1000, 9999)}`;
export const date: Phrase = (random) => `20${random.int(10, 29)}-0${random.int(1, 9)}-${random.int(10, 28)}`;
export const url: Phrase = (random) =>
  `https://example.com/${word(random)}/${random.int(1, 99)}?ref=${random.pick(NOUNS)}#top`;
export const identifier: Phrase = (random) => `${random.pick(['A', 'K', 'X', 'INV', 'ORD'])}-${random.int(1000, 9999)}`;
export const street: Phrase = (random) => `${random.int(1, 200)} ${lastName(random)} Street`;
