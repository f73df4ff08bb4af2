import { expect, test } from 'vitest';
import { parseTemplate } from '../../../src/compiler/1-parse/template/parse-template.ts';
import { readTemplateSamples, showDiagnostics } from './read-template-samples.ts';

const SAMPLES = readTemplateSamples('syntax-errors.txt');

test('there are enough samples', () => {
  expect(SAMPLES.length).toBeGreaterThan(25);
});

test.each(SAMPLES)('$title', ({ template, expected }) => {
  const source = { file: 'main.baml', text: template, toFileOffset: (offset: number) => offset };
  expect(showDiagnostics(parseTemplate(source).diagnostics, template)).toBe(expected);
});
