import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { compilePlan } from '../../../src/runtime/reply/coerce/compile-plan.ts';
import { StepBudget } from '../../../src/runtime/reply/coerce/step-budget.ts';
import type { ReplyParser } from '../../../src/runtime/reply/reply-parser.ts';
import { Scanner } from '../../../src/runtime/reply/candidates/scan/scanner.ts';
import { TreeSink } from '../../../src/runtime/reply/candidates/scan/tree-sink.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';
import { assertProperty, everyOther } from '../../support/assert-property.ts';
import { list } from '../../support/definitions.ts';
import { cut } from './cut.ts';
import { COUNTED, PATTERNS, SCHEMAS, schemaNamed } from './growth-cases.ts';
import { parserOf, partialsOf, programOf } from './parser-of.ts';
import { parsingWays } from './parsing-ways.ts';
import { samples, type Sample } from './random-types.ts';

// --- growth --------------------------------------------------------------------------------------------------------------

const ENOUGH = 1e9;

/** Counts the steps of coercing a list of this JSON, so many times, to a list of the sample's type; 0 if it nests too deeply. */
function stepsOf(
  { returns, definitions }: Pick<Sample, 'returns' | 'definitions'>,
  json: string,
  times: number,
): number {
  const plan = compilePlan(list(returns), indexDefinitions(definitions), compileCondition);
  const reader = new Scanner(new TreeSink());
  reader.read(`[${Array.from({ length: times }, () => json).join(',')}]`, 0, true);
  const { root } = reader;
  if (root === undefined) throw new Error('no list');
  const budget = new StepBudget(ENOUGH);
  const before = budget.left;
  return budget.run(() => plan.coerce(root)) === undefined ? 0 : before - budget.left;
}

const anyJson = fc
  .oneof(
    fc.json({ maxDepth: 4 }),
    fc.json({ maxDepth: 2 }).map((json) => `{"f0": ${json}, "f1": [${json}]}`),
  )
  .map((json) => `[[${json}, {"w": ${json}}]]`);

test('twice as many values take at most twice the steps, for random recursive types', () => {
  assertProperty(
    fc.property(samples(fc.constantFrom('a', '1')), anyJson, (sample, json) => {
      for (const each of [json, JSON.stringify(sample.reply)]) {
        expect(stepsOf(sample, each, 16)).toBeLessThanOrEqual(2.1 * stepsOf(sample, each, 8) + 100);
      }
    }),
    { numRuns: 100 },
  );
});

/**
 * The most steps for twice the depth, as a multiple: 4 is the square, 8 the cube. The first levels take fewer steps than
 * those below them, so that the factor of a square is somewhat above 4.
 */
const MAX_SQUARE = 5;

// Each level can be a string that contains all of its members.
test('nesting a value twice as deep takes at most the square of the steps, for random recursive types', () => {
  assertProperty(
    fc.property(
      samples(fc.constantFrom('a', '1')),
      fc.constantFrom('[', '{"f0":', '{"w":', '{"f0":['),
      (sample, open) => {
        const close = open.includes('[') ? (open.startsWith('{') ? ']}' : ']') : '}';
        const at = (depth: number): number => stepsOf(sample, open.repeat(depth) + '1' + close.repeat(depth), 1);
        expect(at(80)).toBeLessThanOrEqual(MAX_SQUARE * at(40) + 500);
      },
    ),
    { numRuns: 100 },
  );
});

test('nesting a class that contains itself takes at most the square of the steps, if each level has the key of a deeper one', () => {
  const definitions = `
    class Outer {
      next Inner
    }
    class Inner {
      outer Outer? @alias("the outer one")
    }`;
  const program = programOf([{ name: 'Do', returns: 'Outer' }], definitions);
  const returns = program.functions.find(({ name }) => name === 'Do')?.returns;
  if (returns === undefined) throw new Error('no function Do');
  const at = (depth: number): number =>
    stepsOf({ returns, definitions: program }, '{"next":['.repeat(depth) + '1' + ']}'.repeat(depth), 1);
  expect(at(80)).toBeLessThanOrEqual(MAX_SQUARE * at(40));
});

// --- the end of the budget -------------------------------------------------------------------------------------------------

const HARD = schemaNamed('12 classes of one field');
const HARD_REPLY = PATTERNS.find(({ name }) => name === 'chains of known keys')?.reply(HARD, 60_000) ?? '';
const TOO_MUCH =
  'the reply does not fit the return type: the reply needs more work than svc spends on 61 KB for a list: ask for a shorter reply, or give the classes of a union a literal or required field that only one of them has';

const ways = parsingWays([HARD.returns], HARD.definitions);
afterAll(() => ways.close());

test.each(['inline', 'pooled'] as const)(
  'a reply that takes too many steps is a validation failure, parsed %s',
  async (way) => {
    const outcome = await ways[way](HARD.returns, HARD_REPLY);
    expect(outcome.ok ? 'a value' : outcome.failure).toMatchObject({ code: 'validation_failure', message: TOO_MUCH });
  },
);

test('partials end with the budget, and the stream ends as the whole reply does', () => {
  const parser = parserOf(HARD.returns, HARD.definitions);
  const stream = parser.openStream();
  for (const delta of cut(HARD_REPLY, [1_000])) {
    stream.push(delta);
    stream.takePartial();
  }
  expect(stream.finish()).toEqual(parser.parse(HARD_REPLY));
});

test.each(SCHEMAS.map(({ name }) => name))('no nesting overflows the stack, for %s', (name) => {
  const schema = schemaNamed(name);
  const parser: ReplyParser = parserOf(schema.returns, schema.definitions);
  for (const key of [...schema.keys, 'w']) {
    for (const [open, close] of [
      [`{"${key}":`, '}'],
      [`{"${key}":[`, ']}'],
      ['[', ']'],
    ] as const) {
      const depth = Math.floor(400 / open.split(/[[{]/u).slice(1).length);
      const reply = open.repeat(depth) + schema.member(1).slice(0, 1) + close.repeat(depth);
      expect(() => parser.parse(reply)).not.toThrow();
    }
  }
});

test('partials of a long reply go on to its end', () => {
  const tools = schemaNamed('60 tools');
  const parser = parserOf(tools.returns, tools.definitions);
  const reply = PATTERNS[0]?.reply(tools, 70_000) ?? '';
  const outcome = parser.parse(reply);
  expect(partialsOf(parser, cut(reply, [500])).at(-1)).toBe(outcome.ok ? outcome.value.json : '');
});

test('valid replies of 50 KB are far from the end of the budget', () => {
  for (const schema of SCHEMAS.filter(({ name }) => !name.includes('spelled out'))) {
    const parser = parserOf(schema.returns, schema.definitions);
    const outcome = parser.parse(PATTERNS[1]?.reply(schema, 50_000) ?? '');
    expect(outcome.ok ? '' : outcome.failure.message, schema.name).not.toContain('more work');
  }
});

// --- short times -------------------------------------------------------------------------------------------------------------

/** Returns the steps of `use`. */
function spentBy(use: () => unknown): number {
  const before = StepBudget.spent;
  use();
  return StepBudget.spent - before;
}

/** A step can begin just before the limit, and some steps count for many. */
const MOST_SHORT_STEPS = 260_000;

const LONG = 40_000;

test.each(COUNTED)('no short parse, partial or end of a stream takes many steps: %s', (name) => {
  const schema = schemaNamed(name);
  const parser = parserOf(schema.returns, schema.definitions);
  for (const pattern of everyOther(PATTERNS, COUNTED.indexOf(name))) {
    const reply = pattern.reply(schema, LONG);
    const stream = parser.openStream();
    stream.push(reply);
    const steps = [
      spentBy(() => parser.parseShort(reply)),
      spentBy(() => parser.explainShort(reply)),
      ...Array.from({ length: 3 }, () => spentBy(() => stream.takePartial())),
      spentBy(() => stream.finishShort()),
    ];
    expect(Math.max(...steps.slice(0, -1)), pattern.name).toBeLessThan(MOST_SHORT_STEPS);
    // The end of a stream reads the rest of the text on the fast path, and then again from the start.
    expect(steps.at(-1), pattern.name).toBeLessThan(2 * MOST_SHORT_STEPS);
  }
});

test('a short parse has the outcome of the whole one, or none', () => {
  let [parsed, left] = [0, 0];
  for (const name of ['document of 4 classes', '12 classes of one field']) {
    const schema = schemaNamed(name);
    const parser = parserOf(schema.returns, schema.definitions);
    for (const pattern of PATTERNS) {
      const reply = pattern.reply(schema, 3_000);
      const short = parser.parseShort(reply);
      if (short === undefined) left += 1;
      else {
        parsed += 1;
        expect(short).toEqual(parser.parse(reply));
      }
    }
  }
  expect(parsed).toBeGreaterThan(40);
  expect(left).toBeGreaterThan(0);
});

const WIDE = schemaNamed('class of 100 optional fields');

test('a long reply that the fast path takes is parsed in a short time, and one for the tolerant parser is not', () => {
  const parser = parserOf(WIDE.returns, WIDE.definitions);
  const reply = PATTERNS[0]?.reply(WIDE, 240_000) ?? '';
  expect(parser.parseShort(reply)).toEqual(parser.parse(reply));
  expect(parser.parseShort(`Here it is:\n\n\`\`\`json\n${reply}\n\`\`\``)).toBeDefined();
  expect(parser.parseShort(reply.replaceAll('"', "'"))).toBeUndefined();
});

test('partials read a large delta in parts, and arrive at its end', () => {
  const parser = parserOf(WIDE.returns, WIDE.definitions);
  const valid = PATTERNS[0]?.reply(WIDE, 100_000) ?? '';
  // The tolerant parser begins at the end, and reads again what the fast path has shown.
  for (const reply of [valid, `${valid.slice(0, -1)}, {'field1': 'x'}]`, valid.replaceAll('"', "'")]) {
    const stream = parser.openStream();
    stream.push(reply);
    const lengths: number[] = [];
    let last = '';
    do {
      const partial = stream.takePartial()?.join('');
      if (partial !== undefined) last = partial;
      lengths.push(last.length);
    } while (stream.isBehind);
    const outcome = parser.parse(reply);
    expect(last).toBe(outcome.ok ? outcome.value.json : '');
    expect(lengths.length).toBeGreaterThan(3);
    // Each object shows all of its fields.
    expect(lengths[0]).toBeLessThan(last.length / 2);
  }
});
