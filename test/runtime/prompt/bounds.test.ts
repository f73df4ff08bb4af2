import { expect, test } from 'vitest';
import { countSteps, stepGrowth } from '../../support/count-steps.ts';
import type { PromptFailure } from '../../../src/schema/failure.ts';
import { runawayFunction, RUNAWAY_TEMPLATES } from './runaway-templates.ts';
import { CLIENT, rendererOf, renderText } from './sample-program.ts';

// A template that would run forever or fill memory ends quickly, and its failure states where.

const SECRET = 'a-secret-of-the-caller';

/** Steps within which every runaway template ends: 200 for each of the 250,000 units of its work budget. */
const MAX_STEPS = 50_000_000;

test.each(RUNAWAY_TEMPLATES)('%s', (_, prompt) => {
  const renderer = rendererOf(runawayFunction(prompt));
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

test('a conversion in a format has a message of its own', () => {
  expect(renderText('{{ "{!r}".format(1) }}')).toContain('"format" does not support conversions, such as "{!r}"');
  expect(renderText('{{ "{".format(1) }}')).toContain('without a matching brace');
});
