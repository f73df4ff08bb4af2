import { parse } from 'yaml';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { readSample, renderText } from './sample-program.ts';

// `=== title`, an expression, `---`, its output.
const SAMPLES = readSample('formats.txt')
  .split(/^=== /mu)
  .slice(1)
  .map((sample) => {
    const [head = '', expected = ''] = sample.split('\n---\n');
    const lineBreak = head.indexOf('\n');
    return { title: head.slice(0, lineBreak), expression: head.slice(lineBreak + 1), expected: expected.trimEnd() };
  });

test('there are enough samples', () => {
  expect(SAMPLES.length).toBeGreaterThan(15);
});

test.each(SAMPLES)('$title', ({ expression, expected }) => {
  expect(renderText(`{{ ${expression} }}`).trimEnd()).toBe(expected);
});

test('YAML and JSON read back as the same value', () => {
  const setup = { parameters: 'm: map<string, string[]>' };
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('yes', 'no', '0x1', '1_0', '- a\n- b', 'a\n ', '\n', ': '),
  );
  assertProperty(
    fc.property(fc.dictionary(text, fc.array(text, { maxLength: 3 }), { noNullPrototype: true }), (m) => {
      expect(parse(renderText('{{ m|format(type="yaml") }}', { ...setup, args: { m } }), { version: '1.2' })).toEqual(
        m,
      );
      expect(JSON.parse(renderText('{{ m|format(type="json") }}', { ...setup, args: { m } }))).toEqual(m);
    }),
    { numRuns: 40 },
  );
});
