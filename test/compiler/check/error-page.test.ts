import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHECK_CODES } from '../../../src/diagnostics/catalogue/check.ts';
import { PARSE_CODES } from '../../../src/diagnostics/catalogue/parse.ts';
import { checkText } from './sample-files.ts';

/** Codes whose examples are too long for the page. */
const SHORTENED = new Set(['parse/nesting-too-deep', 'check/type-too-large', 'template/too-deep']);

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
/** The first code block of an entry. */
const EXAMPLES = /^### ((?:parse|check|template)\/[a-z-]+)\n+(?:[^`#][^\n]*\n+)+```\n([\s\S]*?)\n```/gm;

const all = [...page.matchAll(EXAMPLES)].map(([, code = '', example = '']) => ({ code, example }));
const isOfTemplates = ({ code }: { readonly code: string }): boolean => code.startsWith('template/');
const templates = all.filter((entry) => isOfTemplates(entry) && !SHORTENED.has(entry.code));
const entries = all.filter((entry) => !isOfTemplates(entry) && !SHORTENED.has(entry.code));

test('the page has an example for every code of the definition language', () => {
  const expected = [...PARSE_CODES, ...CHECK_CODES].filter((code) => !SHORTENED.has(code));
  expect(entries.map(({ code }) => code).toSorted()).toEqual(expected.toSorted());
});

test.each(entries)('the example of $code has a diagnostic with that code', ({ code, example }) => {
  expect(checkText(`${example}\n`).diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
});

test('the page has examples for problems in prompts', () => {
  expect(templates.length).toBeGreaterThanOrEqual(23);
});

test.each(templates)(
  'the example of $code has a diagnostic with that code, as a file or as a prompt',
  ({ code, example }) => {
    const codes = [example, ...[1, 2].map((hashes) => functionWith(example, '#'.repeat(hashes)))].flatMap((text) =>
      checkText(`${text}\n`).diagnostics.map((diagnostic) => diagnostic.code),
    );
    expect(codes).toContain(code);
  },
);

/** Definitions that the examples refer to. */
const DEFINITIONS = `class Person {
  name string
}
enum Color {
  Red @alias("rot")
  Blue
}
template_string Greeting(name: string) #"Hello {{ name }}"#
`;
const PARAMETERS = 'a: string, b: string, text: string, name: string, items: string[], person: Person, color: Color';

/** Returns a function whose prompt is the example. */
function functionWith(prompt: string, hashes: string): string {
  const head = `${DEFINITIONS}function Ask(${PARAMETERS}) -> string {`;
  return `${head}\n  client "openai/gpt-4o-mini"\n  prompt ${hashes}"\n${prompt}\n"${hashes}\n}`;
}
