import fc from 'fast-check';
import type { Definitions } from '../../../src/schema/program.ts';
import type { ClassType, FieldType, Type } from '../../../src/schema/type.ts';
import {
  alias,
  aliasRef,
  bool,
  classType,
  enumType,
  field,
  float,
  definitionsOf,
  functionType,
  int,
  list,
  map,
  nothing,
  string,
  union,
} from '../../support/definitions.ts';
import {
  checkedOf,
  doneOf,
  instanceOf,
  json,
  listOf,
  mapOf,
  optionalOf,
  SCALARS,
  statedOf,
  unionOf,
  type Pair,
  type Shape,
  type ShapedField,
  type World,
} from './shapes.ts';

/** Definitions whose function `Do` returns a type, and a value of that type. */
export interface Sample extends Pair {
  readonly definitions: Definitions;
  readonly returns: Type;
  readonly shape: Shape;
  readonly world: World;
  [fc.toStringMethod](): string;
}

/** A class can have fields of the classes after it, and of every class in an optional, a list or a map. */
const CLASSES = ['First', 'Second', 'Third'];

const ENUMS = [
  enumType('Plain', ['RED', 'GREEN']),
  {
    ...enumType('Named', []),
    values: [
      { name: 'ONE', alias: 'the first', skip: false },
      { name: 'TWO', alias: 'the second', skip: false },
    ],
  },
];

const JSON_ALIAS = alias(
  'Json',
  union(int, float, bool, string, nothing, list(aliasRef('Json')), map(string, aliasRef('Json'))),
);

/** Shapes for the fields of a class of this rank, with attributes at any depth. */
function shapes(rank: number): fc.Arbitrary<Shape> {
  return fc.letrec<{ plain: Shape; shape: Shape }>((tie) => ({
    shape: fc
      .tuple(tie('plain'), fc.constantFrom(keep, keep, keep, keep, doneOf, statedOf, checkedOf))
      .map(([shape, attribute]) =>
        attribute === checkedOf && shape.kinds.includes('null') ? shape : attribute(shape),
      ),
    plain: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom(...SCALARS),
      fc.constantFrom(json, ...CLASSES.slice(rank + 1).map(instanceOf)),
      fc.constantFrom(...CLASSES.map(instanceOf)).map(optionalOf),
      fc.constantFrom(...CLASSES.map(instanceOf)).map(listOf),
      tie('shape').map(listOf),
      tie('shape').map(mapOf),
      tie('plain').map((shape) => (shape.kinds.includes('null') ? shape : optionalOf(shape))),
      fc.array(tie('plain'), { minLength: 2, maxLength: 4 }).map(distinctUnion),
    ),
  })).shape;
}

function keep(shape: Shape): Shape {
  return shape;
}

/** A union of the shapes that each add a kind of JSON to those before. */
function distinctUnion(all: readonly Shape[]): Shape {
  const members: Shape[] = [];
  for (const shape of all) {
    const taken = new Set(members.flatMap((member) => member.kinds));
    const isUnion = shape.type.kind === 'union' || shape.type.kind === 'alias';
    if (!isUnion && !shape.kinds.some((kind) => taken.has(kind))) members.push(shape);
  }
  const [only] = members;
  return members.length === 1 && only !== undefined ? only : members.length === 0 ? listOf(json) : unionOf(members);
}

interface Fields {
  readonly shaped: readonly ShapedField[];
  readonly type: ClassType;
}

function fieldsOf(name: string, rank: number): fc.Arbitrary<Fields> {
  const more = fc.record({ isAliased: fc.boolean(), notNull: fc.boolean() });
  return fc
    .tuple(
      fc.array(fc.tuple(shapes(rank), more), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(false, false, false, true),
    )
    .map(([all, streamDone]) => {
      const shaped = all.map(([shape, { isAliased }], at) => ({
        name: `f${at}`,
        shape,
        ...(isAliased ? { alias: `the field ${at}` } : {}),
      }));
      const fields = shaped.map((each, at): FieldType => {
        const streamNotNull = all[at]?.[1].notNull === true && !each.shape.kinds.some((kind) => MAY_BE_NULL.has(kind));
        return field(each.name, each.shape.type, {
          streamNotNull,
          ...(each.alias === undefined ? {} : { alias: each.alias }),
        });
      });
      return { shaped, type: classType(name, fields, { streamDone }) };
    });
}

/** Kinds of values that count as null while they are empty: `@stream.not_null` would withhold them forever. */
const MAY_BE_NULL: ReadonlySet<string> = new Set(['null', 'object']);

const worlds = fc.tuple(...CLASSES.map((name, rank) => fieldsOf(name, rank)));

/** Generates random classes, a type that uses them, and a value of that type. */
export function samples(texts: fc.Arbitrary<string>): fc.Arbitrary<Sample> {
  return fc.tuple(worlds, shapes(-1)).chain(([classes, inner]) => {
    const world: World = new Map(classes.map(({ shaped, type }) => [type.name, shaped]));
    const shape = inner.kinds.some((kind) => kind === 'list' || kind === 'object') ? inner : listOf(inner);
    const definitions = definitionsOf({
      classes: classes.map(({ type }) => type),
      enums: ENUMS,
      aliases: [JSON_ALIAS],
      functions: [functionType('Do', {}, shape.type)],
    });
    const sample = { definitions, returns: shape.type, shape, world, [fc.toStringMethod]: shown };
    // A scalar among prose could be any word of it.
    const values = shape
      .values({ world, depth: 4, texts })
      .filter(({ reply }) => typeof reply === 'object' && reply !== null);
    return values.map((pair) => ({ ...pair, ...sample }));
  });
}

/** Describes a sample in the report of a failure. */
function shown(this: Sample): string {
  const classes = this.definitions.classes.map(
    ({ name, fields, streamDone }) =>
      `${name} { ${fields.map((each) => `${each.name} ${typeText(each.type)}${each.streamNotNull ? ' @not_null' : ''}`).join('; ')} }${streamDone ? ' @@done' : ''}`,
  );
  return `${typeText(this.returns)} of ${classes.join(', ')}: ${JSON.stringify(this.reply)}`;
}

function typeText(type: Type): string {
  const marks = [
    ...(type.stream?.done === true ? [' @done'] : []),
    ...(type.stream?.withState === true ? [' @state'] : []),
    ...(type.constraints ?? []).map(() => ' @check'),
  ];
  return `${plainText(type)}${marks.join('')}`;
}

function plainText(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `(${typeText(type.element)})[]`;
    case 'map':
      return `map<${typeText(type.value)}>`;
    case 'union':
      return `(${type.members.map(typeText).join(' | ')})`;
    case 'literal':
      return JSON.stringify(type.value);
    case 'class':
    case 'enum':
    case 'alias':
      return type.name;
    default:
      return type.kind;
  }
}
