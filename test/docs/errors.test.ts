import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHECK_CODES } from '../../src/diagnostics/catalogue/check.ts';
import { TEMPLATE_CODES } from '../../src/diagnostics/catalogue/template.ts';
import { PARSE_CODES } from '../../src/diagnostics/catalogue/parse.ts';
import { ERROR_CODES, ERROR_FIELDS, ERRORS } from '../../src/schema/errors.ts';
import { ROOT } from '../architecture/source-files.ts';
import { generatedSection } from './generated-section.ts';
import { codesInHeadings, compareCodes } from './documented-codes.ts';

const known: readonly string[] = [...PARSE_CODES, ...CHECK_CODES, ...TEMPLATE_CODES, ...ERROR_CODES];

test('every catalogue has codes', () => {
  expect(PARSE_CODES.length).toBeGreaterThan(15);
  expect(CHECK_CODES.length).toBeGreaterThan(15);
  expect(TEMPLATE_CODES.length).toBeGreaterThan(10);
  expect(ERROR_CODES.length).toBeGreaterThan(20);
});

test('docs/errors.md explains every code, each once, and nothing else', () => {
  const documented = codesInHeadings(readFileSync(join(ROOT, 'docs/errors.md'), 'utf8'));
  expect(compareCodes(known, documented)).toEqual({ undocumented: [], unknown: [], twice: [] });
});

test('the test finds a code without a heading, a heading without a code, and a second heading', () => {
  const page = '# Errors\n\n## Definitions\n\n### check/a, `check/b`\n\ntext\n\n### gone\n\n#### check/a\n';
  expect(compareCodes(['check/a', 'check/b', 'new'], codesInHeadings(page))).toEqual({
    undocumented: ['new'],
    unknown: ['gone'],
    twice: ['check/a'],
  });
});

test('the HTTP errors of docs/errors.md are those that the code declares', () => {
  const errors = ERROR_CODES.map((code) => {
    const { status, meaning, fields = [] } = ERRORS[code];
    const members = fields.length === 0 ? '' : `\n\nMembers: ${fields.map((name) => `\`${name}\``).join(', ')}.`;
    return `### \`${code}\`\n\n${status}. ${meaning}${members}`;
  });
  const members = Object.entries(ERROR_FIELDS).map(([name, { meaning }]) => `| \`${name}\` | ${meaning} |`);
  const table = ['| member | meaning |', '|---|---|', ...members].join('\n');
  const section = generatedSection('docs/errors.md', 'HTTP errors', `${table}\n\n${errors.join('\n\n')}`);
  expect(section.actual, 'run the tests with UPDATE_DOCS=1').toBe(section.expected);
});
