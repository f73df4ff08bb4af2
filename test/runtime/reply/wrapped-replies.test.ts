import { expect, test } from 'vitest';
import { FunctionReplies } from '../../../src/runtime/call/function-replies.ts';
import type { ReplyParser } from '../../../src/runtime/reply/reply-parser.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';
import { partialsOf, programOf, valueOf } from './parser-of.ts';

const CLASSES = `type Score = int @check(high, {{ this > 5 }})
type Rank = int? @check(low, {{ this == none or this < 5 }})
class P {
  x int @check(positive, {{ this > 0 }})
  name string?
}
`;

/** The parser of replies to a provider that received the schema of `returns`. */
function wrappedParser(returns: string): ReplyParser {
  const program = programOf([{ name: 'F', returns }], CLASSES);
  const [fn] = program.functions;
  if (fn === undefined) throw new Error('no function');
  return new FunctionReplies(fn, indexDefinitions(program)).parserFor(true);
}

test.each<[string, string, unknown]>([
  ['int', '{"result": 12}', 12],
  ['int[]', ' {\n "result" : [1, 2]\n}', [1, 2]],
  ['string?', '{"result": "null"}', 'null'],
  ['string?', '{"result": null}', null],
  ['string | int', String.raw`{"result": "a \"quoted\" text"}`, 'a "quoted" text'],
  ['string | int', '{"result": 5}', 5],
  ['P[]', '{"result": [{"x": 1, "name": null}]}', [{ x: checked(1), name: null }]],
  ['map<string, int>', '{"result": {"result": 1}}', { result: 1 }],
  ['P?', '{"result": null}', null],
  // Models that ignored the schema.
  ['int[]', 'Here you are: [1, 2]', [1, 2]],
  ['int[]', '```json\n{"result": [1, 2]}\n```', [1, 2]],
  ['string?', 'null and void', 'null and void'],
  // Replies that were damaged on the way are repaired.
  ['int[]', '{"result": [1, 2', [1, 2]],
  ['P[]', "{'result': [{x: 1,}],}", [{ x: checked(1), name: null }]],
])('%s of %s', (returns, text, value) => {
  expect(valueOf(wrappedParser(returns), text)).toEqual(value);
});

function checked(value: number): object {
  return { value, checks: { positive: { name: 'positive', expression: 'this > 0', status: 'succeeded' } } };
}

test('partials are those of the value, from its first character', () => {
  expect(partialsOf(wrappedParser('string | int'), '{"result": "ab"}')).toEqual(['""', '"a"', '"ab"']);
  expect(partialsOf(wrappedParser('int[]'), '{"result": [1, 23]}')).toEqual(['[]', '[1]', '[1,23]']);
  expect(partialsOf(wrappedParser('int'), '{"result": 12}')).toEqual(['12']);
  expect(partialsOf(wrappedParser('P?'), '{"result": null}')).toEqual([]);
  expect(partialsOf(wrappedParser('int[]'), '[1, 2]')).toEqual(['[]', '[1]', '[1,2]']);
});

test('a value with checks has no partial before it begins', () => {
  const high = { name: 'high', expression: 'this > 5', status: 'succeeded' };
  expect(partialsOf(wrappedParser('Score'), '{"result": 12}')).toEqual([
    JSON.stringify({ value: 12, checks: { high } }),
  ]);
  const low = { name: 'low', expression: 'this == none or this < 5', status: 'succeeded' };
  for (const value of [3, null]) {
    const text = JSON.stringify({ result: value });
    expect(partialsOf(wrappedParser('Rank'), text)).toEqual([JSON.stringify({ value, checks: { low } })]);
  }
});

test('a stream that ends early fails without mentioning the wrapper', () => {
  for (const text of ['', '{', '{"res', '{"result"', '{"result": ']) {
    const parser = wrappedParser('int');
    const stream = parser.openStream();
    for (const character of text) stream.push(character);
    const outcome = stream.finish();
    expect(outcome).toEqual(parser.parse(text));
    expect(outcome.ok).toBe(false);
    expect(JSON.stringify(outcome)).not.toContain('result\\"');
  }
  expect(valueOf(wrappedParser('int'), '{"result": ')).toBe(
    'refused: the reply does not fit the return type: the reply ends before the value',
  );
});

test('white space before the member does not wait forever', () => {
  const parser = wrappedParser('int[]');
  for (const count of [200, 300]) {
    const text = `{${' '.repeat(count)}"result": [1]}`;
    const stream = parser.openStream();
    for (const character of text) stream.push(character);
    expect(stream.finish()).toEqual(parser.parse(text));
    expect(valueOf(parser, text)).toEqual([1]);
  }
});

test('paths begin at the value, in failures, flags and explanations', () => {
  const parser = wrappedParser('P[]');
  const dropped = parser.parse('{"result": [{"x": 1}, {"x": "z"}]}');
  expect(dropped.ok && dropped.value.flags.map(({ flag, path }) => [flag, path])).toEqual([['dropped-item', '[1]']]);
  const mismatch = 'the reply does not fit the return type: expected int, got the string "z"';
  expect(valueOf(wrappedParser('int'), '{"result": "z"}')).toBe(`refused: ${mismatch}`);
  const explanation = parser.explain('{"result": [{"x": 1}, {"x": "z"}]}');
  expect(explanation.candidates).toMatchObject([{ place: 'whole', from: 0, to: 34, flags: [{ path: '[1]' }] }]);
  expect(explanation.candidates[0]?.json?.startsWith('[{')).toBe(true);
  expect(wrappedParser('int').explain('{"result": "x"}').candidates).toMatchObject([
    { verdict: 'mismatch', reasons: [{ path: '', message: 'expected int, got the string "x"' }] },
  ]);
});

test('a value whose JSON is cut in an explanation has no wrapper either', () => {
  const text = JSON.stringify({ result: Array.from({ length: 2000 }, (_, at) => at) });
  const [candidate] = wrappedParser('int[]').explain(text).candidates;
  expect(candidate?.cut).toBe(true);
  expect(candidate?.json?.startsWith('[0,1,')).toBe(true);
});

test('a class needs no wrapper', () => {
  expect(valueOf(wrappedParser('P'), '{"x": 1, "name": "a"}')).toEqual({ x: checked(1), name: 'a' });
});
