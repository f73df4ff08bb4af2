import { expect, test } from 'vitest';
import { InternalError } from '../../src/base/invariant.ts';
import { loadValidators } from '../../src/runtime/load-validators.ts';
import { functionType, int, map, programOf, string } from '../support/definitions.ts';

const HARD_NAMES = ['constructor', '__proto__x', 'toString', 'a-b', 'é', '"quoted"', 'Normal'];

test('every function has a predicate under its own name, whatever the name', () => {
  const functions = HARD_NAMES.map((name) => functionType(name, { x: int }));
  const predicates = loadValidators(programOf({ functions }).validatorSource);
  expect([...predicates.keys()].toSorted()).toEqual(HARD_NAMES.toSorted());
  for (const predicate of predicates.values()) {
    expect(predicate({ x: 1 })).toBe(true);
    expect(predicate({ x: 'a' })).toBe(false);
  }
});

test('a program without functions has no predicates', () => {
  expect(loadValidators(programOf({}).validatorSource).size).toBe(0);
});

test('the module asks for nothing', () => {
  const { validatorSource } = programOf({ functions: [functionType('Do', { x: map(string, string) })] });
  expect(validatorSource).not.toContain('require(');
});

test('a module that asks for anything but the small run-time files is refused', () => {
  for (const name of ['node:fs', 'ajv', 'ajv/dist/compile/index.js', 'ajv/dist/runtime/../ajv']) {
    expect(() => loadValidators(`require(${JSON.stringify(name)})`)).toThrow(InternalError);
  }
  expect(loadValidators('exports.f = require("ajv/dist/runtime/ucs2length").default').get('f')).toBeTypeOf('function');
});

test('a module has no names of this file or of a module system beside exports and require', () => {
  const predicate = loadValidators('exports.f = () => typeof module + typeof __filename + typeof source').get('f');
  expect(predicate?.({})).toBe('undefinedundefinedundefined');
});
