import { expect, test } from 'vitest';
import { CLIENT, readSample, rendererIfValid } from './sample-program.ts';

// `=== return type : expression`, then its output, or ERROR if it does not compile or render.
const SAMPLES = readSample('output-format.txt')
  .split(/^=== /mu)
  .slice(1)
  .map((sample) => {
    const lineBreak = sample.indexOf('\n');
    const [type = '', expression = ''] = sample.slice(0, lineBreak).split(' : ');
    return { type, expression, expected: sample.slice(lineBreak + 1, -1) };
  });
const DEFINITIONS = readSample('output-format.baml');

test('there are enough samples', () => {
  expect(SAMPLES.length).toBeGreaterThan(75);
});

test.each(SAMPLES)('$type: $expression', ({ type, expression, expected }) => {
  expect(describe(type, expression)).toBe(expected);
});

test('the same options give the same text again', () => {
  const both = '(ctx.output_format(prefix="X"), ctx.output_format(prefix="X"))|unique|length';
  expect(describe('Mini', both)).toBe('1');
});

test('options that are known only when the prompt is rendered are refused there', () => {
  for (const call of ['("x")', '(bogus=1)', '(map_style="foo")', '(hoist_classes=["Nope"])', '(hoist_classes=1)']) {
    expect(describe('Mini', `(ctx.output_format if true else none)${call}`)).toBe('ERROR');
  }
});

function describe(type: string, expression: string): string {
  const source = `${DEFINITIONS}\nfunction F() -> ${type} {\n  client M\n  prompt ##"{{ ${expression} }}"##\n}\n`;
  const result = rendererIfValid(source)?.render('F', {}, CLIENT);
  const part = result?.ok === true ? result.value[0]?.parts[0] : undefined;
  return part?.kind === 'text' ? part.text : 'ERROR';
}
