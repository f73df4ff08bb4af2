import { expect, test } from 'vitest';
import { stepGrowth } from '../../support/count-steps.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { parseExpression } from '../../../src/compiler/1-parse/template/parse-template.ts';
import { createArgumentChecker } from '../../../src/runtime/arguments/check-arguments.ts';
import type { Violation } from '../../../src/schema/violation.ts';
import type { Constraint } from '../../../src/schema/constraint.ts';
import type { Definitions } from '../../../src/schema/program.ts';
import type { Type } from '../../../src/schema/type.ts';
import {
  alias,
  aliasRef,
  classRef,
  classType,
  enumRef,
  enumType,
  field,
  functionType,
  int,
  list,
  map,
  optional,
  programOf,
  string,
  union,
} from '../../support/definitions.ts';
import { validatorsOf } from '../../support/validators.ts';

function assert(source: string, label?: string): Constraint {
  const { expression } = parseExpression({ file: 'test.svc', text: source, toFileOffset: (offset) => offset });
  if (expression === undefined) throw new Error(`no expression: ${source}`);
  return { level: 'assert', source, expression, ...(label !== undefined && { label }) };
}

function asserted(type: Type, source: string, label?: string): Type {
  return { ...type, constraints: [...(type.constraints ?? []), assert(source, label)] };
}

const positive = asserted(int, 'this > 0', 'positive');

const shared: Partial<Definitions> = {
  classes: [
    classType('Range', [field('from', int), field('to', optional(positive))], {
      constraints: [assert('this.from < 100')],
    }),
    classType('A', [field('next', optional(union(classRef('A'), classRef('B')))), field('n', positive)]),
    classType('B', [field('next', optional(union(classRef('A'), classRef('B')))), field('n', positive)]),
  ],
  enums: [{ ...enumType('Color', ['RED', 'BLUE']), constraints: [assert("this != 'BLUE'")] }],
  aliases: [alias('Tree', union(positive, list(aliasRef('Tree'))))],
};

function violationsOf(type: Type, value: unknown): readonly Violation[] {
  const fn = functionType('Check', { x: type });
  const program = programOf({ ...shared, functions: [fn] });
  return createArgumentChecker(program, validatorsOf(program), compileCondition)(fn, { x: value });
}

const FAILED = 'the assert positive failed: this > 0';

test.each<[string, Type, unknown, string, string]>([
  ['a parameter', positive, 0, 'x', FAILED],
  ['an item', list(positive), [1, -1], 'x[1]', FAILED],
  ['a map value', map(string, positive), { a: 0 }, 'x.a', FAILED],
  ['a field', classRef('Range'), { from: 1, to: 0 }, 'x.to', FAILED],
  ['a whole class', classRef('Range'), { from: 100 }, 'x', 'the assert failed: this.from < 100'],
  ['an enum', enumRef('Color'), 'BLUE', 'x', "the assert failed: this != 'BLUE'"],
  ['every member of a union that fits', union(positive, string), 0, 'x', FAILED],
  ['a recursive alias, deep inside', aliasRef('Tree'), [[1, [0]]], 'x[0][1][0]', FAILED],
])('an assert of %s is enforced', (...[, type, value, path, message]) => {
  expect(violationsOf(type, value)).toEqual([{ path, message }]);
});

test.each<[string, Type, unknown]>([
  ['holds', positive, 1],
  ['is about null', optional(positive), null],
  ['is about an absent field', classRef('Range'), { from: 1 }],
  ['fails for one member of a union while another one fits', union(positive, int), 0],
])('an assert that %s is not a violation', (_what, type, value) => {
  expect(violationsOf(type, value)).toEqual([]);
});

test('wrong types are reported before asserts run', () => {
  expect(violationsOf(positive, 'a')).toEqual([{ path: 'x', message: 'expected an int, got a string' }]);
});

test('an assert that cannot be evaluated fails, with the reason', () => {
  const [violation] = violationsOf(asserted(int, 'this.a.b > 1'), 1);
  expect(violation?.message).toMatch(/^the assert failed: this\.a\.b > 1 \(.+\)$/u);
});

test('asserts in classes that lead back to each other take steps in proportion to the depth', () => {
  const growth = stepGrowth(50, (levels) => {
    let value: unknown = { next: null, n: 0 };
    for (let level = 0; level < levels; level += 1) value = { next: value, n: 1 };
    return () => expect(violationsOf(classRef('A'), value)).toHaveLength(1);
  });
  expect(growth.factor).toBeLessThan(3);
});
