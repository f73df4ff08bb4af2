import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OptionValue } from '../../../src/schema/client.ts';
import type { Definitions } from '../../../src/schema/program.ts';
import type { ClassType, FieldType, Type } from '../../../src/schema/type.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { classType, enumType, field } from '../../support/definitions.ts';
import { printDefinitions } from './print-definitions.ts';
import { checkText, resolved, samples, type Outcome } from './sample-files.ts';

/** The result of the first two phases for definitions that are printed and read again. */
function readAgain(definitions: Definitions): Outcome {
  return checkText(printDefinitions(definitions));
}

/** Errors by their code, and the definitions without positions and expressions. */
function meaningOf({ definitions, diagnostics }: Outcome): unknown {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  return { errors, definitions: resolved(definitions && withoutAliases(definitions)) };
}

/** Drops the names of aliases: the printed definitions contain the type of a non-recursive alias in place of its name. */
function withoutAliases(definitions: Definitions): Definitions {
  return { ...definitions, functions: definitions.functions.map(({ returnsAlias: _name, ...fn }) => fn) };
}

/** An alias with a label can occur next to the same label; if its type replaces it, the label occurs twice. */
const LABELS_OF_ALIASES = 'labels-used-twice';

test('the definitions of every valid sample are the same when they are printed and read again', () => {
  const shown = samples('valid').filter(({ name }) => name !== LABELS_OF_ALIASES);
  expect(shown.length).toBeGreaterThan(80);
  for (const { name, file } of shown) {
    const { definitions } = checkText(file.text);
    if (definitions === undefined) throw new Error(`${name} is not valid`);
    expect(meaningOf(readAgain(definitions)), name).toEqual(meaningOf({ definitions, diagnostics: [] }));
  }
});

const NAMES = ['First', 'Second', 'Third'];
const text = fc.string({
  unit: fc.constantFrom('a', 'Z', ' ', '"', '\\', '\n', '\t', 'é', '{', '#', '/'),
  maxLength: 8,
});

/** Types that refer to classes declared before this one, so that none contains itself. */
function types(declared: readonly string[]): fc.Arbitrary<Type> {
  const named = declared.map((name): Type => ({ kind: 'class', name }));
  const scalar = fc.constantFrom<Type>(
    { kind: 'string' },
    { kind: 'int' },
    { kind: 'float' },
    { kind: 'bool' },
    { kind: 'media', media: 'image' },
    { kind: 'enum', name: 'Colour' },
    { kind: 'literal', value: 'yes "no"' },
    { kind: 'literal', value: 7 },
    ...named,
  );
  return fc.letrec<{ type: Type }>((tie) => ({
    type: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      scalar,
      tie('type').map((element): Type => ({ kind: 'list', element })),
      tie('type').map((value): Type => ({ kind: 'map', key: { kind: 'string' }, value })),
      fc
        .uniqueArray(scalar, { minLength: 2, maxLength: 4, selector: (type) => JSON.stringify(type) })
        .map((members): Type => ({ kind: 'union', members })),
      scalar.map((member): Type => ({ kind: 'union', members: [member, { kind: 'null' }] })),
    ),
  })).type;
}

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

function fields(declared: readonly string[]): fc.Arbitrary<readonly FieldType[]> {
  const one = fc.record({ type: types(declared), alias: fc.boolean(), description: maybe(text), skip: fc.boolean() });
  return fc.array(one, { minLength: 1, maxLength: 5 }).map((all) => all.map(fieldOf));
}

interface RandomField {
  readonly type: Type;
  readonly alias: boolean;
  readonly description: string | undefined;
  readonly skip: boolean;
}

/** Only fields that can be null can be skipped, and no two fields have one alias. */
function fieldOf({ type, alias, description, skip }: RandomField, at: number): FieldType {
  const nullable = type.kind === 'union' && type.members.some((member) => member.kind === 'null');
  return field(`f${at}`, type, {
    skip: skip && nullable,
    ...(alias ? { alias: `the "field" ${at}` } : {}),
    ...(description === undefined ? {} : { description }),
  });
}

const classes = fc.tuple(...NAMES.map(classNamed));

function classNamed(name: string, rank: number): fc.Arbitrary<ClassType> {
  const more = fc.record({ description: maybe(text), streamDone: fc.boolean() });
  return fc
    .tuple(fields(NAMES.slice(0, rank)), more)
    .map(([all, { description, streamDone }]) =>
      classType(name, all, { streamDone, ...(description === undefined ? {} : { description }) }),
    );
}

const option = fc.letrec<{ value: OptionValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc
      .oneof(text, fc.integer(), fc.boolean(), fc.constant(null))
      .map((value): OptionValue => ({ kind: 'scalar', value })),
    fc.constant<OptionValue>({ kind: 'env', variable: 'SOME_KEY' }),
    fc.array(tie('value'), { maxLength: 3 }).map((items): OptionValue => ({ kind: 'list', items })),
    fc
      .array(tie('value'), { minLength: 1, maxLength: 3 })
      .map((values): OptionValue => ({ kind: 'map', entries: values.map((value, at) => ({ key: `k-${at}`, value })) })),
  ),
})).value;

const definitions = fc.record({ classes, bodies: fc.array(option, { maxLength: 3 }) }).map((random): Definitions => ({
  classes: random.classes,
  enums: [enumType('Colour', ['RED'])],
  aliases: [],
  functions: [],
  templateStrings: [],
  clients: [
    {
      name: 'Model',
      provider: 'openai-generic',
      options: [
        { key: 'model', value: { kind: 'scalar', value: 'm' } },
        { key: 'base_url', value: { kind: 'scalar', value: 'http://127.0.0.1/v1' } },
        ...random.bodies.map((value, at) => ({ key: `extra_${at}`, value })),
      ],
    },
  ],
  retryPolicies: [],
}));

test('random definitions are the same when they are printed and read', () => {
  assertProperty(
    fc.property(definitions, (random) => {
      expect(meaningOf(readAgain(random))).toEqual(meaningOf({ definitions: random, diagnostics: [] }));
    }),
    { numRuns: 100 },
  );
});
