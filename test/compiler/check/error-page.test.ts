import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHECK_CODES } from '../../../src/diagnostics/catalogue/check.ts';
import { PARSE_CODES } from '../../../src/diagnostics/catalogue/parse.ts';
import { checkText } from './sample-files.ts';

/** Too long to be written out: their examples are shortened. */
const SHORTENED = new Set(['parse/nesting-too-deep', 'check/type-too-large']);

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
const entries = [...page.matchAll(/^### ((?:parse|check)\/[a-z-]+)\n+(?:[^`#][^\n]*\n+)+```\n([\s\S]*?)\n```/gm)]
  .map(([, code = '', example = '']) => ({ code, example }))
  .filter(({ code }) => !SHORTENED.has(code));

test('the page has an example for every code of the definition language', () => {
  const expected = [...PARSE_CODES, ...CHECK_CODES].filter((code) => !SHORTENED.has(code));
  expect(entries.map(({ code }) => code).toSorted()).toEqual(expected.toSorted());
});

test.each(entries)('the example of $code is reported with it', ({ code, example }) => {
  expect(checkText(`${example}\n`).diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
});
