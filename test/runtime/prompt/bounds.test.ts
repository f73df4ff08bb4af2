import { expect, test } from 'vitest';
import type { PromptFailure } from '../../../src/schema/errors.ts';
import { countSteps, stepGrowth } from '../../support/count-steps.ts';
import { CLIENT, rendererOf, renderText } from './sample-program.ts';

// A template that would run forever or fill memory ends quickly, and its failure states where.

const SECRET = 'a-secret-of-the-caller';

const BOMBS: readonly (readonly [string, string])[] = [
  ['nested loops', '{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}'],
  ['loops that print', '{% for a in range(100000) %}{% for b in range(100000) %}{{ s }}{% endfor %}{% endfor %}'],
  [
    'doubling',
    '{% set ns = namespace(x=s) %}{% for a in range(1000) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}',
  ],
  ['doubling lists', '{% set ns = namespace(x=[1]) %}{% for a in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}'],
  ['a macro that calls itself', '{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(s) }}'],
  ['a macro that calls itself twice', '{% macro f(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{{ f(s) }}'],
  [
    'two macros that call each other',
    '{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}',
  ],
  ['a template_string that calls itself', '{{ Again(s) }}'],
  ['a repeated text', '{{ s * 1000000000 }}'],
  ['a repeated list', '{{ [s] * 1000000000 }}'],
  ['a large range', '{{ range(1000000000) }}'],
  ['replacing by something long', '{{ ("a" * 100000)|replace("a", "b" * 100000) }}'],
  ['joining by something long', '{{ range(100000)|join("b" * 100000) }}'],
  ['indenting', '{{ ("a\n" * 100000)|indent(10000) }}'],
  [
    'filters on a long text in a loop',
    '{% set x = "a" * 1000000 %}{% for a in range(100000) %}{{ x|upper|length }}{% endfor %}',
  ],
  [
    'methods on a long text in a loop',
    '{% set x = "a" * 1000000 %}{% for a in range(100000) %}{{ x.find("b") }}{% endfor %}',
  ],
  [
    'looking into a long list in a loop',
    '{% set x = range(100000) %}{% for a in range(100000) %}{{ -1 in x }}{% endfor %}',
  ],
  [
    'comparing long lists in a loop',
    '{% set x = range(100000) %}{% set y = range(100000) %}{% for a in range(100000) %}{{ x == y }}{% endfor %}',
  ],
  ['sorting in a loop', '{% for a in range(100000) %}{{ range(100000)|sort|first }}{% endfor %}'],
  ['sorting by a test', '{% for a in range(100000) %}{{ range(100000)|select("odd")|list|length }}{% endfor %}'],
  ['ranges in a loop', '{% for a in range(100000) %}{% set x = range(100000) %}{% endfor %}'],
  ['slices in a loop', '{% set x = range(100000) %}{% for a in range(100000) %}{% set y = x[1:] %}{% endfor %}'],
  ['a hostile regular expression', '{{ ("a" * 1000000)|regex_match("(a|a|aa)*b") }}'],
  ['a counted regular expression', '{{ ("a" * 100000)|regex_match("(a?){900}b") }}'],
  ['a recursive loop over itself', '{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}'],
  [
    'a list twice in itself',
    '{% set ns = namespace(x=[s]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}',
  ],
  [
    'a list twice in itself as JSON',
    '{% set ns = namespace(x=[s]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson }}',
  ],
  [
    'a list twice in itself compared',
    '{% set n = namespace(x=[s], y=[s]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}',
  ],
];

const HEAD =
  'template_string Again(x: string) #"{{ Again(x) }}"#\n\nfunction Bomb(s: string) -> string {\n  client "openai/m1"\n';

/** Steps within which every runaway template ends: 200 for each of the 250,000 units of its work budget. */
const MAX_STEPS = 50_000_000;

test.each(BOMBS)('%s', (_, prompt) => {
  const renderer = rendererOf(`${HEAD}  prompt ####"${prompt}"####\n}\n`);
  const failures: (PromptFailure | undefined)[] = [];
  const steps = countSteps(() => {
    const result = renderer.render('Bomb', { s: SECRET }, CLIENT);
    failures.push(result.ok ? undefined : result.failure);
  });
  const [failure] = failures;
  expect(failure?.code).toBe('prompt_error');
  expect(failure?.message).toMatch(/^The prompt of "Bomb" cannot be rendered: .* \(main\.baml:\d:\d+\)\.$/u);
  expect(failure?.message).not.toContain(SECRET);
  expect(steps).toBeLessThan(MAX_STEPS);
});

/** `m`, with 2,000 entries. */
const LARGE_MAP = `{% set m = {${Array.from({ length: 2000 }, (_, key) => `${key}: 0`).join()}} %}`;

test.each(['x|length', 'x|count', 'x|first', 'x|last', 'x|default(1)', '1 in m', 'm|length'])(
  'a loop over a long list may ask for %s in every round',
  (expression) => {
    expect(
      renderText(
        `{% set x = range(10000) %}${LARGE_MAP}{% for a in x %}{% set y = ${expression} %}{% endfor %}{{ x|length }}`,
      ),
    ).toBe('10000');
  },
);

test.each(['m|length', 'm.get("k1")', 'm is mapping', 'm[1]', 'm == {}', '1 if m else 2', 'm|first', 'm|list'])(
  'a loop may ask for %s of a large map, or ends',
  (expression) => {
    const m = Object.fromEntries(Array.from({ length: 20000 }, (_, at) => [`k${at}`, at]));
    const setup = { parameters: 'm: map<string, int>', args: { m } };
    let text = '';
    const steps = countSteps(() => {
      text = renderText(`{% for x in range(2000) %}{% set y = ${expression} %}{% endfor %}done`, setup);
    });
    expect(text).toMatch(/^(?:done|failure: .*too many steps.*)$/u);
    expect(steps).toBeLessThan(MAX_STEPS);
  },
);

test('a field that is read in every round of a loop is made once', () => {
  const definitions = 'class M {\n  t string\n}\nclass C {\n  ms M[]\n}';
  const prompt = '{% for m in c.ms %}{{ c.ms[loop.index0].t }}{% endfor %}';
  const growth = stepGrowth(5_000, (size) => {
    const args = { c: { ms: Array.from({ length: size }, () => ({ t: 'x' })) } };
    return () => expect(renderText(prompt, { definitions, parameters: 'c: C', args })).toBe('x'.repeat(size));
  });
  expect(growth.factor).toBeLessThan(2.2);
});

test('values inside themselves print with an end', () => {
  const chain = '{% set ns = namespace(x=[]) %}{% for a in range(1000) %}{% set ns.x = [ns.x] %}{% endfor %}';
  expect(renderText(`${chain}{{ ns.x }}`)).toContain('…');
  expect(renderText(`${chain}{{ ns.x|tojson }}`)).toContain('null');
});

test('a failure states the line and column of the expression', () => {
  const prompt = 'one\n    two {{ 1 + 1 }}\n    three {{ "x"|upper|int }}';
  expect(renderText(prompt)).toBe(
    'failure: The prompt of "F" cannot be rendered: filter "int" on string: the string is not a number (main.baml:6:24).',
  );
});

test('a failure in a template_string states the line and column in the template_string', () => {
  const definitions = 'template_string T(x: string) #"\n  a\n  {{ x|int }}\n"#';
  expect(renderText('{{ T("q") }}', { definitions })).toContain('(main.baml:3:8)');
});
