import { expect, test } from 'vitest';
import type { Explanation } from '../../../src/schema/explanation.ts';
import { parserOf } from './parser-of.ts';
import { SAMPLE_DEFINITIONS, section, valueSamples } from './read-samples.ts';

function explain(returns: string, reply: string): Explanation {
  return parserOf(returns, SAMPLE_DEFINITIONS).explain(reply);
}

test('the explanation of each sample takes the value of the reply', () => {
  for (const sample of valueSamples()) {
    const parser = parserOf(section(sample, 'type'), SAMPLE_DEFINITIONS);
    const reply = section(sample, 'reply');
    const outcome = parser.parse(reply);
    const { candidates } = parser.explain(reply);
    const taken = candidates.filter(({ verdict }) => verdict === 'taken');
    expect(
      taken.map(({ json }) => json),
      sample.name,
    ).toEqual(outcome.ok ? [outcome.value.json] : []);
    for (const { from, to, verdict, reasons, criterion } of candidates) {
      expect(from, sample.name).toBeGreaterThanOrEqual(0);
      expect(to, sample.name).toBeLessThanOrEqual(reply.length);
      expect(verdict === 'mismatch', sample.name).toBe(reasons !== undefined && reasons.length > 0);
      expect(verdict === 'passed-over', sample.name).toBe(criterion !== undefined && criterion !== '');
    }
  }
});

test('an explanation lists the candidates in order, with their places and the criterion that decided', () => {
  const reply = 'Draft: {"name": "Ada", "age": 35}\n\n```json\n{"name": "Ada", "age": 36}\n```\n\nNot {"url": "x"}.';
  const { candidates, omitted } = explain('Person', reply);
  expect(omitted).toBe(0);
  expect(candidates.map(({ from, to, ...candidate }) => ({ source: reply.slice(from, to), ...candidate }))).toEqual([
    {
      source: '{"name": "Ada", "age": 35}',
      place: 'prose',
      verdict: 'passed-over',
      json: '{"name":"Ada","age":35}',
      flags: [],
      criterion: 'the text introduces it as a draft, an example or code',
    },
    {
      source: '{"name": "Ada", "age": 36}',
      place: 'fence',
      verdict: 'taken',
      json: '{"name":"Ada","age":36}',
      flags: [
        { flag: 'markdown', path: '' },
        { flag: 'other-values', path: '', detail: '1 more value of the reply matches' },
      ],
    },
    {
      source: '{"url": "x"}',
      place: 'prose',
      verdict: 'mismatch',
      reasons: [
        { path: 'name', message: 'the required field "name" is missing' },
        { path: 'age', message: 'the required field "age" is missing' },
      ],
      flags: [],
    },
    expect.objectContaining({ place: 'text', verdict: 'mismatch' }),
  ]);
});

test('an explanation has a bounded size', () => {
  const objects = '{"name": "Ada", "age": 36} and\n'.repeat(5000);
  const { candidates, omitted } = explain('Person', objects);
  expect(candidates.length).toBe(50);
  expect(candidates.length + omitted).toBeGreaterThanOrEqual(5000);
  const long = explain('string[]', JSON.stringify(['x'.repeat(100_000)]));
  expect(long.candidates).toEqual([expect.objectContaining({ verdict: 'taken', cut: true })]);
  expect(JSON.stringify(long).length).toBeLessThan(5000);
});
