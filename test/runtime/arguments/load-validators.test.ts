import { expect, test } from 'vitest';
import { loadValidators } from '../../../src/runtime/arguments/load-validators.ts';
import { classRef, classType, field, functionType, int, nothing, programOf, union } from '../../support/definitions.ts';

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

test('functions with the same signature share one predicate', () => {
  const functions = [
    functionType('One', { x: int }),
    functionType('Two', { x: int }),
    functionType('Other', { y: int }),
  ];
  const predicates = loadValidators(programOf({ functions }).validatorSource);
  expect(predicates.get('One')).toBe(predicates.get('Two'));
  expect(predicates.get('One')).not.toBe(predicates.get('Other'));
});

test('a chain of five thousand classes has predicates, and a value too deep for the stack is told by a RangeError', () => {
  const classes = Array.from({ length: 5000 }, (_, at) =>
    classType(`C${at}`, [field('next', union(classRef(`C${(at + 1) % 5000}`), nothing))]),
  );
  const functions = [functionType('Do', { x: classRef('C0') })];
  const predicate = loadValidators(programOf({ classes, functions }).validatorSource).get('Do');
  expect(predicate?.({ x: { next: { next: null } } })).toBe(true);
  expect(predicate?.({ x: { next: { next: 5 } } })).toBe(false);
  let deep: object = {};
  for (let depth = 0; depth < 200_000; depth += 1) deep = { next: deep };
  expect(() => predicate?.({ x: deep })).toThrow(RangeError);
});

test('a module sees nothing of this file or of a module system but its exports', () => {
  const source = 'exports.f = () => typeof module + typeof require + typeof __filename + typeof source';
  expect(loadValidators(source).get('f')?.({})).toBe('undefined'.repeat(4));
});
