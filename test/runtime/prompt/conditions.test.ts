import { expect, test } from 'vitest';
import { parseExpression } from '../../../src/compiler/1-parse/template/parse-template.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import type { Condition } from '../../../src/schema/constraint.ts';

function condition(text: string): Condition {
  const { expression } = parseExpression({ file: 'main.baml', text, toFileOffset: (offset) => offset });
  if (expression === undefined) throw new Error(`no expression: ${text}`);
  return compileCondition(expression);
}

test.each<readonly [string, unknown, boolean]>([
  ['this > 0', 1, true],
  ['this > 0', -1, false],
  ['this > 0 and this < 10', 5, true],
  ['this == 3', 3, true],
  ['this|length > 2', 'abc', true],
  ['this|length > 2', [1], false],
  ['this|length == 1', { a: 1 }, true],
  ['this.name == "x"', { name: 'x' }, true],
  ['this.items|length == this.count', { items: [1, 2], count: 2 }, true],
  ['this.a.b', { a: { b: 0 } }, false],
  ['this.missing is defined', {}, false],
  ['this is none', null, true],
  ['this', '', false],
  ['this', [0], true],
  ['"@" in this', 'a@b', true],
  ['"a" in this', { a: 1 }, true],
  ['this in ["RED", "GREEN"]', 'RED', true],
  ['this|regex_match("^\\\\d{5}$")', '12345', true],
  ['this|regex_match("^\\\\d{5}$")', '1234', false],
  ['this.startswith("a")', 'abc', true],
  ['this|sum == 6', [1, 2, 3], true],
  ['this|map("abs")|max < 5', [-4, 3], true],
  ['this|selectattr("ok")|list|length == 1', [{ ok: true }, { ok: false }], true],
  ['this.values()|sum == 3', { a: 1, b: 2 }, true],
  ['range(3)|length == this', 3, true],
  ['this == 1.0', 1, true],
  ['this[0] == this[-1]', [1, 2, 1], true],
  ['nothing', 1, false],
])('%s of %j is %j', (text, self, expected) => {
  expect(condition(text)(self)).toEqual({ ok: true, value: expected });
});

test.each<readonly [string, unknown, string]>([
  ['this.a.b > 1', {}, 'cannot read "b" of an undefined value'],
  ['this + "a" == 1', 1, '"+" cannot be used between number and string'],
  ['this|length > 1', 5, 'filter "length" on number: a value of kind number has no length'],
  ['this|int > 1', 'secret', 'filter "int" on string: the string is not a number'],
  ['1 // this == 1', 0, 'division by zero'],
  ['"x" * 99999999 == this', 'a', 'a string becomes too long'],
  ['this.nope()', 'a', 'a value of kind string has no method "nope"'],
])('%s of %j cannot be evaluated: %s', (text, self, reason) => {
  expect(condition(text)(self)).toEqual({ ok: false, failure: reason });
});

test('a condition is evaluated again for each value', () => {
  const positive = condition('this > 0');
  expect([1, -1, 2].map((value) => positive(value))).toEqual([true, false, true].map((value) => ({ ok: true, value })));
});

test.each([
  'this.constructor',
  'this["constructor"]',
  'this.__proto__',
  'this["__proto__"]',
  'this.prototype',
  'this|attr("constructor")',
  'this.toString',
  'this.hasOwnProperty',
  '[this]|map(attribute="constructor")|first',
  '[this]|map(attribute="constructor.constructor")|first',
  '[this]|selectattr("constructor")|list',
  '[this]|groupby("constructor")|first|first',
  'this.length is defined and this is mapping',
  '"constructor" in this and this is mapping',
  'dict(this or {}).constructor',
  'namespace().constructor',
  'range.constructor',
])('%s is undefined for every value', (text) => {
  const results = ['abc', 1, true, [1, 2], { a: 1 }, Object.create(null), null].map((self) => condition(text)(self));
  expect(results.map((result) => result.ok && result.value)).not.toContain(true);
});

test('keys that look like prototypes are data', () => {
  const self: unknown = JSON.parse('{"__proto__": 1, "constructor": 2}');
  expect(condition('this.__proto__ == 1 and this["constructor"] == 2')(self)).toEqual({ ok: true, value: true });
});
