import { expect, test } from 'vitest';
import type { ReplyParser } from '../../../src/runtime/parsing/reply-parser.ts';
import { parserOf } from './parser-of.ts';

const DEFINITIONS = `
class Leaf {
  name string
  tags string[]
}
class Node {
  value (int | string | Leaf)?
  children Node[]
  extra map<string, Leaf | Node | string>
}
enum Color {
  RED
  GREEN @description("the colour of grass")
}
type Data = int | float | bool | string | null | Data[] | map<string, Data>
`;

const PATTERNS = [
  '[',
  '{',
  '{"a":',
  '[{',
  '"',
  '\\',
  '\\u',
  "'",
  '`',
  '```',
  '```json\n{',
  '{"value": "a" b" ',
  ' \n',
  '{}',
  '[1,',
  ',',
  '/*',
  '//',
  '<think>',
  '</think>',
  '{"children":[',
  'a: b, ',
  '{a',
  '"a" "b" ',
  '1,111',
  '{"value":{"name":',
  '“',
  'RED GREEN ',
  ']}',
  '{"extra":{"k":',
];

const TYPES = ['Node', 'Data', 'Color', 'int', '(Leaf | Node | null)[]', '(int | Color)[]'];

function cpuOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 1000;
}

function fastest(run: () => unknown): number {
  return Math.min(cpuOf(run), cpuOf(run), cpuOf(run));
}

/** Milliseconds below which a ratio says nothing. */
const NOISE = 100;

/** CPU milliseconds of a fixed piece of work: tells how fast the machine is just now. */
const unit = fastest(() => JSON.parse(JSON.stringify(Array.from({ length: 100_000 }, (_, index) => `text ${index}`))));

/** CPU milliseconds for 100 KB: some 50 on an idle machine, with room for one that is busy. */
const BOUND = Math.max(500, 30 * unit);

test.each(TYPES)('no repetition makes %s slow, whole or in pieces', (type) => {
  const parser = parserOf(type, DEFINITIONS);
  const slow: string[] = [];
  for (const pattern of PATTERNS) {
    const reply = pattern.repeat(Math.ceil(100_000 / pattern.length));
    const half = reply.slice(0, reply.length / 2);
    const first = cpuOf(() => parser.parse(reply));
    const time = first < NOISE ? first : fastest(() => parser.parse(reply));
    const ratio = time < NOISE ? 0 : time / fastest(() => parser.parse(half));
    const streamed = cpuOf(() => stream(parser, reply));
    if (time > BOUND || ratio > 3.5 || streamed > 2 * BOUND)
      slow.push(`${pattern}: ${time} ms, x${ratio}, streamed ${streamed} ms`);
  }
  expect(slow).toEqual([]);
});

function stream(parser: ReplyParser, reply: string): void {
  const open = parser.openStream();
  for (let at = 0; at < reply.length; at += 7) open.push(reply.slice(at, at + 7));
  open.takePartial();
  open.finish();
}

test('100,000 nested brackets are refused, quickly', () => {
  const parser = parserOf('Node', DEFINITIONS);
  const reply = '['.repeat(100_000) + ']'.repeat(100_000);
  let failure = '';
  const time = cpuOf(() => {
    const outcome = parser.parse(reply);
    failure = outcome.ok ? '' : outcome.failure.message;
  });
  expect(failure).toContain('nests deeper than 400 levels');
  expect(time).toBeLessThan(BOUND);
});

test('a value as deep as the limit is read, also by types that refer to themselves', () => {
  const reply = '['.repeat(400) + ']'.repeat(400);
  const outcome = parserOf('Data', DEFINITIONS).parse(reply);
  expect(outcome.ok && outcome.value.json).toBe(reply);
});

function deep(innermost: string): string {
  return '{"children":['.repeat(199) + innermost + ']}'.repeat(199);
}

test('deep values inside of texts inside of deep values are read', () => {
  const reply = deep(`{"children": ${JSON.stringify(`[${deep('{}')}]`)}}`);
  const outcome = parserOf('Node', DEFINITIONS).parse(reply);
  expect(outcome.ok && outcome.value.flags.map((flag) => flag.flag)).toContain('json-in-text');
});

test('a string type takes any text as it is', () => {
  const reply = '['.repeat(100_000);
  const outcome = parserOf('string').parse(reply);
  expect(outcome.ok && outcome.value.value).toBe(reply);
});

test('keys of the prototype are data', () => {
  const parser = parserOf('map<string, map<string, bool>>');
  const outcome = parser.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": false}}');
  expect(outcome.ok && outcome.value.json).toBe('{"__proto__":{"polluted":true},"constructor":{"prototype":false}}');
  expect(outcome.ok && Object.keys(outcome.value.value as object)).toEqual(['__proto__', 'constructor']);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});
