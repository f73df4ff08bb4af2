import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { casesOf, KINDS } from '../../bench/recover/kinds.ts';
import { Draw } from '../../bench/recover/kind.ts';
import { nameOf } from '../../bench/recover/options.ts';
import { Random } from '../../bench/recover/random.ts';
import { verdictOf } from '../../bench/recover/readings.ts';
import { makeValue } from '../../bench/recover/shape.ts';
import { PROVIDERS, STRUCTURED_KINDS, structuredParsers, structuredReply } from '../../bench/recover/structured.ts';
import { SUBJECTS } from '../../bench/recover/subjects.ts';
import { readStream, readWhole, svcParsers } from '../../bench/recover/svc-side.ts';

const SEED = 15;

test('there are enough types and kinds, each with a name of its own', () => {
  expect(new Set(SUBJECTS.map(({ name }) => name)).size).toBe(SUBJECTS.length);
  expect(new Set(KINDS.map(nameOf)).size).toBe(KINDS.length);
  expect(SUBJECTS.length).toBeGreaterThanOrEqual(45);
  expect(KINDS.length).toBeGreaterThanOrEqual(120);
});

test.each(KINDS.map((kind) => [nameOf(kind), kind] as const))('%s yields replies in each of its ways', (_, kind) => {
  for (const way of kind.ways) expect(casesOf({ ...kind, ways: [way] }, SEED, 3), String(way)).not.toHaveLength(0);
});

test('a seed always gives the same replies, and another seed gives others', () => {
  expect(repliesOf(SEED)).toEqual(repliesOf(SEED));
  expect(repliesOf(SEED)).not.toEqual(repliesOf(SEED + 1));
});

test('undamaged JSON is read exactly for every type', () => {
  const parsers = svcParsers(SUBJECTS);
  for (const subject of SUBJECTS) {
    const parser = parsers.get(subject.name);
    if (parser === undefined) throw new Error(`no parser of ${subject.name}`);
    const random = new Random(`${SEED} ${subject.name}`);
    for (let round = 0; round < 3; round += 1) {
      const value = subject.shape.kind === 'text' ? 'any text' : makeValue(subject.shape, random);
      const draw = new Draw(subject, value, random);
      const reply = subject.shape.kind === 'text' ? 'any text' : draw.json();
      const truth = { kind: 'value', value } as const;
      expect(verdictOf(truth, readWhole(parser, reply)), `${subject.name}: ${reply}`).toBe('exact');
      expect(verdictOf(truth, readStream(parser, reply, SEED)), `${subject.name}: ${reply}`).toBe('exact');
    }
  }
});

test('only a refusal, or the rest with a reported loss, is exact where a reply does not fit as a whole', () => {
  const rest = { kind: 'rest', value: [1] } as const;
  expect(verdictOf(rest, { kind: 'value', value: [1], losses: 1 })).toBe('exact');
  expect(verdictOf(rest, { kind: 'refused', message: '' })).toBe('exact');
  expect(verdictOf(rest, { kind: 'value', value: [1], losses: 0 })).toBe('wrong');
  expect(verdictOf({ kind: 'refusal' }, { kind: 'value', value: [], losses: 1 })).toBe('lossy');
  expect(verdictOf({ kind: 'value', value: 5 }, { kind: 'refused', message: '' })).toBe('refused');
});

/** One instance for all schemas: its own meta-schemas take longer to compile than a schema. */
const ajv = new Ajv2020({ strict: false });

test.each(PROVIDERS)('the replies for %s match its schemas, and are read exactly', (_, form) => {
  const parsers = structuredParsers();
  const random = new Random(`${SEED} structured`);
  let replies = 0;
  for (const subject of SUBJECTS) {
    const draw = new Draw(subject, makeValue(subject.shape, random), random);
    const reply = structuredReply(draw, form);
    const parser = parsers.get(subject.name);
    if (reply === undefined || parser === undefined) continue;
    replies += 1;
    const accepts = ajv.compile(reply.schema);
    expect(accepts(reply.sent), `${subject.name}: ${JSON.stringify(accepts.errors)}`).toBe(true);
    expect(verdictOf({ kind: 'value', value: draw.value }, readWhole(parser, JSON.stringify(reply.sent)))).toBe(
      'exact',
    );
  }
  expect(replies).toBeGreaterThan(30);
});

test.each(STRUCTURED_KINDS.map((kind) => [nameOf(kind), kind] as const))('%s yields replies', (_, kind) => {
  expect(casesOf(kind, SEED, 3)).toHaveLength(3);
});

function repliesOf(seed: number): readonly string[] {
  return KINDS.flatMap((kind) => casesOf(kind, seed, 2).map(({ reply }) => reply));
}
