import { expect, test } from 'vitest';
import { compile } from '../../../src/compiler/compile.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { createPromptRenderer } from '../../../src/runtime/prompt/create-prompt-renderer.ts';
import {
  FILTER_RESULTS,
  FILTERS,
  FUNCTIONS,
  METHODS,
  OPERATOR_OPERANDS,
  TESTS,
} from '../../../src/schema/template-vocabulary.ts';
import { validatorsOf } from '../../support/validators.ts';
import { CLIENT } from '../../runtime/prompt/sample-program.ts';

// The tables of operands in the vocabulary are true: svc warns of exactly those uses that the renderer cannot render.

const DEFINITIONS = `class C {
  a string?
  b int?
  l string[]?
}
enum E {
  X
  Y @alias("y")
}
`;

interface Kind {
  readonly type: string;
  /** Values with which a use can succeed, if it can with any value of the type. */
  readonly values: readonly unknown[];
}

const KINDS: readonly Kind[] = [
  { type: 'string', values: ['', 'abc', '5', 'a b\nc'] },
  { type: 'int', values: [0, 1, 3] },
  { type: 'float', values: [0, 1.5, 2] },
  { type: 'bool', values: [true, false] },
  { type: '"5"', values: ['5'] },
  {
    type: '(string | int | string[] | map<string, int>)[]',
    values: [[], ['a'], [1, 2], [['a', 'b']], [{ a: 1 }]],
  },
  { type: 'map<string, string>', values: [{}, { a: 'b' }] },
  { type: 'C', values: [{}, { a: 'x', b: 1 }] },
  { type: 'E', values: ['X', 'Y'] },
  { type: 'image', values: [{ url: 'http://x/y.png' }] },
  { type: 'int | string[]', values: [3, ['a']] },
];

/** Arguments for the filters and tests that need some. */
const FILTER_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  attr: ['"a"'],
  batch: ['2'],
  chain: ['', '[1]', '{"a": 1}'],
  format: ['type="json"', 'type="yaml"'],
  groupby: ['"a"'],
  map: ['"upper"', 'attribute="a"'],
  regex_match: ['"a"'],
  reject: ['', '"odd"'],
  rejectattr: ['"a"'],
  replace: ['"a", "b"'],
  round: ['', '1'],
  select: ['', '"odd"'],
  selectattr: ['"a"'],
  slice: ['2'],
  split: ['', '","'],
  zip: ['', '[1, 2]'],
};
const TEST_ARGUMENTS: Readonly<Record<string, string>> = { in: '[1]', startingwith: '"a"', endingwith: '"a"' };

/** Uses of `x` as the argument of something. */
const AS_ARGUMENT = [
  'range(x)',
  'range(1, x)',
  'range(1, 9, x)',
  'range(1, upper=x)',
  'dict(x)',
  'namespace(x)',
  '_.role(x)',
  '_.chat(role=x)',
  '"abc"|replace(x, "")',
  '"abc"|indent(x)',
  '"abc"|trim(x)',
  '"a,b"|split(x)',
  '"a,b"|split(",", x)',
  '[1, 2]|batch(x)',
  '[1, 2]|slice(x)',
  '[1]|join(x)',
  '[1]|zip(x)',
  '[1]|zip([2], x)',
  '[1]|chain(x)',
  '{"a": 1}|attr(x)',
  '1.5|round(x)',
  '1|tojson(indent=x)',
  '6 is divisibleby(x)',
  '6 is in(x)',
  '"a" is startingwith(x)',
  '",".join(x)',
  '"aa".replace("a", "b", x)',
  '"a,b".split(",", x)',
  '"a,b".split(x)',
  '"a".find(x)',
];
const ACCESSES = ['-x', '+x', 'not x', 'x[0]', 'x["a"]', 'x.a', 'x[1:]', 'x()', 'x ~ 1', 'x < 1', 'x == 1', 'x and 1'];

const called = (name: string, args: string): string => (args === '' ? name : `${name}(${args})`);
const operators = Object.keys(OPERATOR_OPERANDS);
const USES: readonly string[] = [
  ...Object.keys(FILTERS).flatMap((name) => (FILTER_ARGUMENTS[name] ?? ['']).map((args) => `x|${called(name, args)}`)),
  ...Object.entries(TESTS)
    .filter(([name]) => /^[a-z]/u.test(name))
    .map(([name, { length }]) => `x is ${called(name, TEST_ARGUMENTS[name] ?? (length === 0 ? '' : '3'))}`),
  ...operators.flatMap((operator) =>
    ['2', '"2"', '[2]'].flatMap((other) => [`x ${operator} ${other}`, `${other} ${operator} x`]),
  ),
  ...AS_ARGUMENT,
  ...ACCESSES,
];
const TEMPLATES: readonly string[] = [
  ...USES.map((use) => `{{ ${use} }}`),
  '{% for a in x %}{{ a }}{% endfor %}',
  ...Object.keys(FILTERS)
    .filter((name) => FILTER_ARGUMENTS[name] === undefined)
    .map((name) => `{% filter ${name} %}5{% endfilter %}{{ x }}`),
];

interface Outcome {
  readonly use: string;
  readonly warned: boolean;
  readonly fails: boolean;
}

/** Renders each template with each kind of value, and compares the failures with the warnings of one code. */
function outcomesOf(
  code: string,
  kinds: readonly Kind[],
  fails: (render: (value: unknown) => boolean, kind: Kind) => boolean,
): readonly Outcome[] {
  const cases = kinds.flatMap((kind) => TEMPLATES.map((template) => ({ kind, template })));
  const starts: number[] = [];
  let text = DEFINITIONS;
  for (const [index, { kind, template }] of cases.entries()) {
    starts.push(text.length);
    text += `function F${index}(x: ${kind.type}) -> string {\n  client "openai/m"\n  prompt #"${template} ."#\n}\n`;
  }
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { program, diagnostics } = compile([new SourceFile('main.svc', text)], options);
  if (program === undefined)
    throw new Error(JSON.stringify(diagnostics.filter(({ severity }) => severity === 'error')));
  const at = diagnostics.filter((each) => each.code === code).map(({ span }) => span.start);
  const warned = new Set(at.map((start) => starts.findLastIndex((each) => each <= start)));
  const validators = validatorsOf(program);
  // All functions of a kind have the same types.
  const fits = kinds.map((_, index) => validators.of(`F${index * TEMPLATES.length}`).createFits());
  const renderer = createPromptRenderer(program, (name) => {
    const ofKind = fits[Math.floor(Number(name.slice(1)) / TEMPLATES.length)];
    if (ofKind === undefined) throw new Error(`there is no function ${name}`);
    return ofKind;
  });
  return cases.map(({ kind, template }, index) => {
    const canRender = (value: unknown): boolean => renderer.render(`F${index}`, { x: value }, CLIENT).ok;
    return { use: `${kind.type}: ${template}`, warned: warned.has(index), fails: fails(canRender, kind) };
  });
}

test('svc warns of an operand exactly if rendering fails with all values of its type', () => {
  const outcomes = outcomesOf('template/wrong-operand', KINDS, (canRender, { values }) => !values.some(canRender));
  expect(outcomes.filter(({ fails }) => fails).length).toBeGreaterThan(400);
  expect(outcomes.filter(({ warned, fails }) => warned !== fails)).toEqual([]);
});

test('svc warns of an optional operand exactly if only rendering without a value, or with null, fails', () => {
  const optional = KINDS.map(({ type, values }) => ({ type: `(${type})?`, values }));
  const outcomes = outcomesOf('template/missing-operand', optional, (canRender, { values }) => {
    const works = values.some(canRender);
    return works && !(canRender(undefined) && canRender(null));
  });
  expect(outcomes.filter(({ fails }) => fails).length).toBeGreaterThan(200);
  expect(outcomes.filter(({ warned, fails }) => warned !== fails)).toEqual([]);
});

test('the uses cover every filter, test, function, method with an operand, and operator', () => {
  const all = TEMPLATES.join('\n');
  for (const name of Object.keys(FUNCTIONS).filter((each) => each !== 'debug')) expect(all).toContain(`${name}(`);
  for (const name of Object.keys(FILTERS)) expect(all).toContain(`x|${name}`);
  for (const name of Object.keys(METHODS.string).filter((each) => /join|split$/u.test(each)))
    expect(all).toContain(name);
});

/** The test that holds for each kind of result. */
const RESULT_TESTS = {
  string: 'is string',
  int: 'is integer',
  float: 'is float',
  bool: 'is boolean',
  list: 'is sequence',
} as const;

test('results of filters are of the kind that the vocabulary states', () => {
  const filters = Object.entries(FILTER_RESULTS);
  expect(filters.length).toBeGreaterThan(30);
  for (const [name, result] of filters) {
    const uses = (FILTER_ARGUMENTS[name] ?? ['']).map((args) => called(name, args));
    const text = uses.map((use) => `{{ (x|${use}) ${RESULT_TESTS[result]} }}`).join(' ');
    const source = `${DEFINITIONS}function F(x: string | int | float | bool | string[] | map<string, string> | C) -> string {\n  client "openai/m"\n  prompt #"${text}"#\n}\n`;
    const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
    const { program } = compile([new SourceFile('main.svc', source)], options);
    if (program === undefined) throw new Error(`${name} does not compile`);
    const validators = validatorsOf(program);
    const renderer = createPromptRenderer(program, (fn) => validators.of(fn).createFits());
    const values = ['', '5', 'a b', 1, 1.5, true, [], ['a', 'b'], { a: 'b' }];
    const rendered = values.flatMap((x) => {
      const prompt = renderer.render('F', { x }, CLIENT);
      return prompt.ok ? prompt.value.flatMap(({ parts }) => parts) : [];
    });
    expect(rendered.length, name).toBeGreaterThan(0);
    for (const part of rendered) expect(part, name).toMatchObject({ text: uses.map(() => 'true').join(' ') });
  }
});
