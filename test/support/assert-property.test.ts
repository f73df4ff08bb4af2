import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from './assert-property.ts';

function inputsOfOneRun(): readonly number[] {
  const inputs: number[] = [];
  assertProperty(
    fc.property(fc.integer(), (input) => {
      inputs.push(input);
    }),
    { numRuns: 20 },
  );
  return inputs;
}

test('the same seed gives the same inputs', () => {
  const inputs = inputsOfOneRun();
  expect(new Set(inputs).size).toBeGreaterThan(10);
  expect(inputsOfOneRun()).toEqual(inputs);
});

test('a failure states the seed that repeats it', () => {
  const fails = fc.property(fc.integer(), (input) => input < 0);
  expect(() => assertProperty(fails)).toThrow(`seed: ${process.env['FC_SEED']}`);
});
