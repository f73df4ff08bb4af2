import { expect, test } from 'vitest';
import { parseExpression } from '../../../src/compiler/1-parse/template/parse-template.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { compile } from '../../../src/compiler/compile.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import type { Condition } from '../../../src/schema/constraint.ts';
import { type ConstrainedType, indexDefinitions } from '../../../src/schema/program.ts';

/** The type of a parameter, with the definitions of this file. */
function constrained(type: string): ConstrainedType {
  const source = `
class Point {
  x float
  next Point?
}
class Named {
  name string
  kind "named"
}
class Measure {
  kind "measure"
  size float
}
type Tree = float | Tree[]
function F(value: ${type}) -> string {
  client "openai/m"
  prompt #"{{ value }}"#
}`;
  const options = { version: '0.1.0', versionCheck: false, beta: true, apiKey: false };
  const { program, diagnostics } = compile([new SourceFile('main.baml', source)], options);
  const parameter = program?.functions[0]?.parameters[0];
  if (program === undefined || parameter === undefined) throw new Error(JSON.stringify(diagnostics));
  return { type: parameter.type, definitions: indexDefinitions(program) };
}

const ANY = constrained('string');

function condition(text: string, of: ConstrainedType = ANY): Condition {
  const { expression } = parseExpression({ file: 'main.baml', text, toFileOffset: (offset) => offset });
  if (expression === undefined) throw new Error(`no expression: ${text}`);
  return compileCondition(expression, of);
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

test.each<readonly [string, string, unknown]>([
  ['float', 'this is float and this|string == "7.0" and this is not integer', 7],
  ['float', 'this is float and this == 7.5', 7.5],
  ['float?', 'this is float', 7],
  ['float?', 'this is none', null],
  ['int', 'this is int and this|string == "7"', 7],
  ['float[]', 'this|join(",") == "7.0,8.5"', [7, 8.5]],
  ['map<string, float[]>', 'this.k[0] is float and this.values()|first|first is float', { k: [7] }],
  ['Point', 'this.x is float and this.next.next.x|string == "7.0"', { x: 1, next: { x: 2, next: { x: 7 } } }],
  ['Point', 'this["x"] is float and (this|items|first)[1] is float and this|tojson is startingwith("{")', { x: 7 }],
  ['Point[]', 'this|map(attribute="x")|select("float")|list|length == 2', [{ x: 7 }, { x: 8 }]],
  ['Tree', 'this[0][0] is float', [[7]]],
  ['float | int', 'this is float', 7],
  ['int | float', 'this is int', 7],
  ['int | float', 'this is float', 7.5],
  ['string | float', 'this is float', 7],
  ['3 | float', 'this is int', 3],
  ['3 | float', 'this is float', 7],
  ['string | Point', 'this.x is float', { x: 7 }],
  ['Named | Measure', 'this.size is float', { kind: 'measure', size: 7 }],
  ['Point', 'this.__proto__ == 1 and this.x is float', JSON.parse('{"x": 7, "__proto__": 1}')],
  ['float', 'this == "seven"', 'seven'],
])('numbers are floats or integers as %s declares them: %s', (type, text, self) => {
  expect(condition(text, constrained(type))(self)).toEqual({ ok: true, value: true });
});

test('the value itself is not changed', () => {
  const self = { x: 7, next: { x: 8 } };
  condition('this.next.x is float', constrained('Point'))(self);
  expect(self).toEqual({ x: 7, next: { x: 8 } });
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
