import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { showDiagnostics } from '../template/read-template-samples.ts';
import { checkText } from './sample-files.ts';

/**
 * Mistakes of the first hour with the language, one file for each theme: `=== title`, a definition file, `---`, and one line for each
 * diagnostic, with the text at its position.
 */
const FOLDER = new URL('../first-hour/', import.meta.url);

const files = readdirSync(FOLDER).toSorted();

const mistakes = files.flatMap((file) =>
  readFileSync(new URL(file, FOLDER), 'utf8')
    .split(/^=== /mu)
    .slice(1)
    .map((mistake) => {
      const [head = '', expected = ''] = mistake.split('\n---\n');
      const end = head.indexOf('\n');
      return { title: `${file.replace('.txt', '')}: ${head.slice(0, end)}`, text: head.slice(end + 1), expected };
    }),
);

test('there are mistakes of every theme', () => {
  expect(files).toEqual(['clients.txt', 'declarations.txt', 'functions.txt', 'prompts.txt', 'tests.txt', 'types.txt']);
  expect(mistakes.length).toBeGreaterThanOrEqual(127);
  expect(new Set(mistakes.map(({ title }) => title)).size).toBe(mistakes.length);
});

test.each(mistakes)('$title: the report states what is wrong, where, and what to do', ({ text, expected }) => {
  const { diagnostics } = checkText(`${text}\n`);
  expect(showDiagnostics(diagnostics, text)).toBe(expected.trim());
  expect(diagnostics).not.toEqual([]);
  for (const { message, help } of diagnostics) expect(help, message).toBeDefined();
});
