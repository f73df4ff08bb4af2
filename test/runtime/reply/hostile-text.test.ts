import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { ReplyParser } from '../../../src/runtime/reply/reply-parser.ts';
import { HOSTILE_DEFINITIONS, HOSTILE_TYPES, LONG_TEXTS, PATTERNS } from './hostile-patterns.ts';
import { parserOf } from './parser-of.ts';

function cpuOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 1000;
}

/** The least of several runs: what else the machine does, and the collector of garbage, only ever add. */
function fastest(run: () => unknown, runs = 5): number {
  return Math.min(...Array.from({ length: runs }, () => cpuOf(run)));
}

/** CPU milliseconds of a fixed piece of work, and what it takes on an idle machine of the kind that the bounds are for. */
const UNIT = 40;
const unit = fastest(() => JSON.parse(JSON.stringify(Array.from({ length: 100_000 }, (_, index) => `text ${index}`))));

/** CPU milliseconds for 100 KB. */
const BOUND = 50 * Math.max(1, unit / UNIT);

/** A stream is read as it arrives, and as a whole at its end. */
const STREAM_BOUND = 2 * BOUND;

/**
 * Twice the text takes at most so many times as long, on average of three doublings: 2 is linear, 4 is quadratic. A single doubling can
 * cost more where hundreds of thousands of values begin to outlive V8's young generation.
 */
const MAX_GROWTH = 2.5;

/** Milliseconds below which a ratio says nothing: an eighth of it is a time in which optimised and other code take turns. */
const NOISE = 20;

/** Thousands of objects are no noise: each of them is read with care, and may be a member of a list. */
const OBJECTS = ['{a:1}', '{"name":""}', '{"a":1}\n'];

test.each(HOSTILE_TYPES)('thousands of small objects cost %s time in proportion to their number', (type) => {
  const parser = parserOf(type, HOSTILE_DEFINITIONS);
  for (const pattern of OBJECTS) {
    const reply = pattern.repeat(Math.ceil(100_000 / pattern.length));
    const eighth = reply.slice(0, reply.length / 8);
    expect(
      verdict(
        2 * BOUND,
        () => parser.parse(reply),
        () => parser.parse(eighth),
      ),
    ).toBeUndefined();
  }
});

test.each(HOSTILE_TYPES)('no repetition makes %s slow, whole or in pieces', (type) => {
  const parser = parserOf(type, HOSTILE_DEFINITIONS);
  const slow: string[] = [];
  for (const pattern of PATTERNS) {
    const reply = pattern.repeat(Math.ceil(100_000 / pattern.length));
    const eighth = reply.slice(0, reply.length / 8);
    const whole = verdict(
      BOUND,
      () => parser.parse(reply),
      () => parser.parse(eighth),
    );
    if (whole !== undefined) slow.push(`${pattern}: ${whole}`);
    const streamed = verdict(
      STREAM_BOUND,
      () => stream(parser, reply),
      () => stream(parser, eighth),
    );
    if (streamed !== undefined) slow.push(`${pattern} in pieces: ${streamed}`);
  }
  expect(slow).toEqual([]);
});

test.each(HOSTILE_TYPES)('one long text costs %s time in proportion to its length', (type) => {
  const parser = parserOf(type, HOSTILE_DEFINITIONS);
  const slow: string[] = [];
  for (const pattern of LONG_TEXTS) {
    const reply = longText(pattern, 90_000);
    const eighth = longText(pattern, 90_000 / 8);
    const whole = verdict(
      BOUND,
      () => parser.parse(reply),
      () => parser.parse(eighth),
    );
    if (whole !== undefined) slow.push(`${pattern}: ${whole}`);
  }
  expect(slow).toEqual([]);
});

function longText(pattern: string, size: number): string {
  return JSON.stringify({ value: `${pattern.repeat(size / pattern.length)}x` });
}

/** What is wrong with the time of `run`, of which `eighth` does an eighth; undefined when some attempt was fine. */
function verdict(bound: number, run: () => unknown, eighth: () => unknown): string | undefined {
  let text: string | undefined;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const time = fastest(run, attempt === 0 ? 2 : 7);
    const growth = time < NOISE ? 0 : Math.cbrt(time / fastest(eighth, attempt === 0 ? 2 : 7));
    if (time < bound && growth < MAX_GROWTH) return undefined;
    text = `${time} ms, x${growth}`;
  }
  return text;
}

function stream(parser: ReplyParser, reply: string): void {
  const open = parser.openStream();
  for (let at = 0; at < reply.length; at += 7) open.push(reply.slice(at, at + 7));
  open.takePartial();
  open.finish();
}

test('a megabyte of any repetition is read in the memory of a small thread', { timeout: 120_000 }, async () => {
  const thread = new Worker(new URL('../../server/support/hostile-thread.mjs', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 160 },
  });
  const errors: unknown[] = [];
  thread.on('error', (error) => errors.push(error));
  const code = await new Promise((resolve) => {
    thread.once('exit', resolve);
  });
  expect(errors).toEqual([]);
  expect(code).toBe(0);
});

test('100,000 nested brackets are refused, quickly', () => {
  const parser = parserOf('Node', HOSTILE_DEFINITIONS);
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
  const outcome = parserOf('Data', HOSTILE_DEFINITIONS).parse(reply);
  expect(outcome.ok && outcome.value.json).toBe(reply);
});

function deep(innermost: string): string {
  return '{"children":['.repeat(199) + innermost + ']}'.repeat(199);
}

test('deep values inside of texts inside of deep values are read', () => {
  const reply = deep(`{"children": ${JSON.stringify(`[${deep('{}')}]`)}}`);
  const outcome = parserOf('Node', HOSTILE_DEFINITIONS).parse(reply);
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
