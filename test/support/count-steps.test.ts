import { expect, test } from 'vitest';
import { countSteps, stepGrowth } from './count-steps.ts';
import { editDistance } from '../../src/base/suggestion.ts';
import { canonicalJson } from '../../src/base/json.ts';

const work = () => editDistance('abc'.repeat(30), 'cab'.repeat(30));

test('the same work takes the same number of steps', () => {
  work();
  const steps = countSteps(work);
  expect(steps).toBeGreaterThan(30 * 30);
  expect(countSteps(work)).toBe(steps);
});

test('linear work doubles with its input, quadratic work grows fourfold', () => {
  const linear = stepGrowth(1000, (size) => () => canonicalJson(Array.from({ length: size }, () => ({ a: 1 }))));
  expect(linear.factor).toBeCloseTo(2, 1);
  const quadratic = stepGrowth(200, (size) => () => editDistance('a'.repeat(size), 'b'.repeat(size)));
  expect(quadratic.factor).toBeCloseTo(4, 1);
});

test('the work of built-in functions counts', () => {
  const text = 'a'.repeat(1000);
  expect(countSteps(() => text.indexOf('b'))).toBe(1000);
  expect(countSteps(() => /b/u.test(text))).toBe(1001);
  expect(countSteps(() => JSON.stringify([text]))).toBe(1004);
  expect(countSteps(() => ` ${text}`.trim())).toBe(2);
});
