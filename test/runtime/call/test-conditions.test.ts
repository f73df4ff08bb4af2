import { expect, test } from 'vitest';
import { compile } from '../../../src/compiler/compile.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { evaluateTest, withoutChecks, type TestedCall } from '../../../src/runtime/call/test-conditions.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';

const OPTIONS = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };

/** Evaluates the conditions in the body of a test, and returns their outcomes, each as one line. */
function outcomes(conditions: string, call: Partial<TestedCall> = {}): readonly string[] {
  const text = `
enum Mood {
  Glad @alias("happy")
  Sad
}
class Person {
  name string
  mood Mood
  age int @check(adult, {{ this >= 18 }})
  height float?
}
function F(text: string, this: string?, limit: float?) -> Person {
  client "openai/gpt-4o"
  prompt #"{{ text }} {{ this }} {{ limit }} {{ ctx.output_format }}"#
}
test T {
  functions [F]
  args { text "a" }
  ${conditions}
}`;
  const { program, tests, diagnostics } = compile([new SourceFile('main.svc', text)], OPTIONS);
  const [fn] = program?.functions ?? [];
  const [built] = tests;
  if (program === undefined || fn === undefined || built === undefined) throw new Error(JSON.stringify(diagnostics));
  expect(built).not.toHaveProperty('unreadable');
  const age = { value: 30, checks: { adult: { name: 'adult', expression: 'this >= 18', status: 'succeeded' } } };
  const value = { name: 'Ada', mood: 'Glad', age, height: 2 };
  const tested = { value, args: { text: 'a', limit: 3 }, latencyMs: 250, ...call };
  return evaluateTest(built.constraints, tested, fn, indexDefinitions(program)).map(
    ({ constraint, status, reason }) => `${constraint.source}: ${status}${reason === undefined ? '' : ` (${reason})`}`,
  );
}

test.each([
  ['this.name == "Ada"', 'succeeded'],
  ['_.result.name == "Ada"', 'succeeded'],
  ['this == _.result', 'succeeded'],
  ['this.age == 30', 'succeeded'],
  ['this.age + 1 > 30', 'succeeded'],
  ['this.height is float and _.result.height is float and this.age is int', 'succeeded'],
  ['limit is float', 'succeeded'],
  ['this.mood == "Glad"', 'succeeded'],
  ['this.mood == Mood.Glad', 'succeeded'],
  ['this.mood == Mood.Sad', 'failed'],
  ['this.mood == "happy"', 'failed'],
  ['this.name|length == text|length + 2', 'succeeded'],
  ['_.latency_ms == 250', 'succeeded'],
  ['_.latency_ms < 250', 'failed'],
  ['_.checks.none', 'failed'],
  ['this', 'succeeded'],
  ['none', 'failed'],
  ['this.nothing.at_all', 'failed (cannot read "at_all" of an undefined value)'],
])('"%s" has the outcome "%s"', (expression, outcome) => {
  expect(outcomes(`@@assert({{ ${expression} }})`)).toEqual([`${expression}: ${outcome}`]);
});

test('checks do not end a test, and later conditions read them by their labels', () => {
  expect(
    outcomes(`
  @@check(named, {{ this.name != "" }})
  @@check(sad, {{ this.mood == "Sad" }})
  @@check(broken, {{ this.x.y }})
  @@assert({{ _.checks.named and not _.checks.sad and not _.checks.broken }})`),
  ).toEqual([
    'this.name != "": succeeded',
    'this.mood == "Sad": failed',
    'this.x.y: failed (cannot read "y" of an undefined value)',
    '_.checks.named and not _.checks.sad and not _.checks.broken: succeeded',
  ]);
});

test('the first assert that does not hold skips the others', () => {
  expect(
    outcomes(`
  @@assert({{ this.name == "Ada" }})
  @@assert({{ this.name == "Bob" }})
  @@check(later, {{ true }})
  @@assert({{ true }})`),
  ).toEqual(['this.name == "Ada": succeeded', 'this.name == "Bob": failed', 'true: skipped', 'true: skipped']);
});

test('a name of the prototype is not an argument', () => {
  expect(outcomes('@@assert({{ constructor is defined }})')).toEqual(['constructor is defined: failed']);
});

const result = (name: string, status: string) => ({ [name]: { name, expression: 'x', status } });

test('the checks of a value are separated from it, with their paths', () => {
  const people = [{ age: { value: 3, checks: result('adult', 'failed') } }, { age: null }];
  const value = { people: { value: people, checks: { ...result('some', 'succeeded'), ...result('few', 'failed') } } };
  expect(withoutChecks(value)).toEqual({
    value: { people: [{ age: 3 }, { age: null }] },
    checks: [
      { path: 'people', name: 'some', expression: 'x', succeeded: true },
      { path: 'people', name: 'few', expression: 'x', succeeded: false },
      { path: 'people[0].age', name: 'adult', expression: 'x', succeeded: false },
    ],
  });
  expect(withoutChecks({ value: 'x', checks: result('a', 'succeeded') })).toMatchObject({ value: 'x' });
});

test.each([
  { value: 1, checks: {} },
  { value: 1, checks: 'none' },
  { value: 1, checks: { a: true } },
  { value: 1, checks: { a: { name: 'b', expression: 'x', status: 'failed' } } },
  { value: 1, checks: { a: { name: 'a', expression: 'x', status: 'open' } } },
  { value: 1, checks: result('a', 'failed'), more: 1 },
])('an object that only resembles a value with checks stays as it is: %j', (value) => {
  expect(withoutChecks(value)).toEqual({ value, checks: [] });
});
