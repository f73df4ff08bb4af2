import type { ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { createReplyParser } from '../../../src/runtime/reply/create-reply-parser.ts';
import type { ReplyParser } from '../../../src/runtime/reply/reply-parser.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';
import type { Type } from '../../../src/schema/type.ts';
import {
  alias,
  aliasRef,
  bool,
  check,
  checked,
  classRef,
  classType,
  enumRef,
  enumType,
  field,
  float,
  functionType,
  int,
  list,
  literal,
  map,
  optional,
  programOf,
  string,
  union,
} from '../../support/definitions.ts';
import { publishedSchemas } from '../../support/published-schemas.ts';

// The document describes the results of the parser: whatever the type and the reply, results and partials fit their
// schemas.

const attributes: fc.Arbitrary<(type: Type) => Type> = fc.constantFrom(
  (type: Type) => type,
  (type: Type) => type,
  (type: Type) => checked(type, 'ok'),
  (type: Type) => done(type),
  (type: Type) => stated(type),
  (type: Type) => stated(checked(type, 'ok')),
  (type: Type) => stated(done(type)),
);

function done(type: Type): Type {
  return { ...type, stream: { ...type.stream, done: true } };
}

function stated(type: Type): Type {
  return { ...type, stream: { ...type.stream, withState: true } };
}

/** Attributes can occur anywhere, even on members of unions. */
const types: fc.Arbitrary<Type> = fc.letrec<{ plain: Type; type: Type }>((tie) => ({
  type: fc.tuple(tie('plain'), attributes).map(([type, attribute]) => attribute(type)),
  plain: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Type>(string, int, float, bool, literal('a'), literal(1), enumRef('E'), enumRef('Guarded')),
    fc.constantFrom('A', 'B', 'C').map((name) => classRef(name)),
    fc.constantFrom('Json', 'Graded').map((name) => aliasRef(name)),
    tie('type').map((element) => list(element)),
    tie('type').map((value) => map(string, value)),
    tie('plain').map((type) => optional(type)),
    fc.array(tie('plain'), { minLength: 2, maxLength: 3 }).map((members) => union(...members)),
    fc.array(tie('type'), { minLength: 2, maxLength: 3 }).map((members) => union(...members)),
  ),
})).type;

const fields = fc.array(fc.tuple(types, fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 3 }).map((all) =>
  all.map(([type, streamNotNull, skip], at) => {
    return skip ? field(`f${at}`, optional(type), { skip }) : field(`f${at}`, type, { streamNotNull });
  }),
);

const replies = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('a', 'X', 'text', '', 1, 1.5, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('f0', 'f1', 'f2', 'k'), tie('value'), { maxKeys: 3 }),
  ),
})).value;

/** The JSON that a parser returns for a reply in deltas of three characters: partials, then the result. */
function textsOf(parser: ReplyParser, reply: string): { readonly partials: string[]; readonly results: string[] } {
  const partials: string[] = [];
  const stream = parser.openStream();
  for (const piece of reply.match(/.{1,3}/gu) ?? []) {
    stream.push(piece);
    const json = stream.takePartial()?.join('');
    if (json !== undefined) partials.push(json);
  }
  const outcome = stream.finish();
  return { partials, results: outcome.ok ? [outcome.value.json] : [] };
}

function mismatches(validate: ValidateFunction, texts: readonly string[]): readonly string[] {
  return texts.filter((text) => !validate(JSON.parse(text)));
}

test('results and partials fit the schemas that the document gives for them', () => {
  const seen = { results: 0, partials: 0 };
  assertProperty(
    fc.property(types, fields, fields, fc.array(replies, { minLength: 6, maxLength: 6 }), (returns, a, b, values) => {
      const program = programOf({
        classes: [
          classType('A', a),
          classType('B', b, { constraints: [check('whole')] }),
          classType('C', [field('f0', classRef('B'))], { streamDone: true }),
        ],
        enums: [enumType('E', ['X', 'Y']), { ...enumType('Guarded', ['X', 'Y']), constraints: [check('fine')] }],
        aliases: [
          alias('Json', union(string, list(aliasRef('Json')))),
          alias('Graded', checked(union(int, list(aliasRef('Graded'))), 'graded')),
        ],
        functions: [functionType('Do', {}, returns)],
      });
      const { result, partial } = publishedSchemas(program);
      const parser = createReplyParser(returns, indexDefinitions(program), compileCondition);
      for (const value of values) {
        const { partials, results } = textsOf(parser, JSON.stringify(value));
        seen.results += results.length;
        seen.partials += partials.length;
        expect({ value, result: mismatches(result, results), partial: mismatches(partial, partials) }).toEqual({
          value,
          result: [],
          partial: [],
        });
      }
    }),
    { numRuns: 80 },
  );
  expect(seen.results).toBeGreaterThan(100);
  expect(seen.partials).toBeGreaterThan(100);
});

test('partials with state fit their schemas from the first delta to the last', () => {
  const ofStated = [
    field('text', stated(string)),
    field('n', stated(checked(int, 'ok'))),
    field('tags', stated(list(string))),
  ];
  const program = programOf({
    classes: [classType('Stated', ofStated)],
    functions: [functionType('Do', {}, classRef('Stated'))],
  });
  const { result, partial } = publishedSchemas(program);
  const parser = createReplyParser(classRef('Stated'), indexDefinitions(program), compileCondition);
  const { partials, results } = textsOf(parser, '{"text": "some text", "n": 12, "tags": ["a", "b"]}');
  expect(partials.length).toBeGreaterThan(5);
  expect(results).toHaveLength(1);
  expect([mismatches(partial, partials), mismatches(result, results)]).toEqual([[], []]);
});
