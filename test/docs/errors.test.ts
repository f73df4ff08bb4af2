import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHECK_CODES } from '../../src/diagnostics/catalogue/check.ts';
import { PARSE_CODES } from '../../src/diagnostics/catalogue/parse.ts';
import { PROBLEM_CODES } from '../../src/server/http/problem.ts';
import { ROOT } from '../architecture/source-files.ts';
import { codesInHeadings, compareCodes } from './documented-codes.ts';

const known: readonly string[] = [...PARSE_CODES, ...CHECK_CODES, ...templateCodes(), ...PROBLEM_CODES];

test('all catalogues give their codes', () => {
  expect(PARSE_CODES.length).toBeGreaterThan(15);
  expect(CHECK_CODES.length).toBeGreaterThan(15);
  expect(templateCodes().length).toBeGreaterThan(10);
  expect(PROBLEM_CODES.length).toBeGreaterThan(20);
});

test('docs/errors.md explains every code, each once, and nothing else', () => {
  const documented = codesInHeadings(readFileSync(join(ROOT, 'docs/errors.md'), 'utf8'));
  expect(compareCodes(known, documented)).toEqual({ undocumented: [], unknown: [], twice: [] });
});

test('a code without a heading, a heading without a code and a second heading are seen', () => {
  const page = '# Errors\n\n## Definitions\n\n### check/a, `check/b`\n\ntext\n\n### gone\n\n#### check/a\n';
  expect(compareCodes(['check/a', 'check/b', 'new'], codesInHeadings(page))).toEqual({
    undocumented: ['new'],
    unknown: ['gone'],
    twice: ['check/a'],
  });
});

/** Read from the source: the factories of template problems are functions, each with its code in its one call. */
function templateCodes(): readonly string[] {
  const source = readFileSync(join(ROOT, 'src/diagnostics/catalogue/template.ts'), 'utf8');
  const codes = [...source.matchAll(/\b(?:problem|warning|caution)\(\s*'([a-z-]+)'/g)];
  return codes.map(([, code]) => `template/${code}`);
}
