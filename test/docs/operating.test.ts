import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { terminalLine } from '../../src/logging/readable-line.ts';
import { ROOT } from '../architecture/source-files.ts';

const PAGE = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');

/** The first code block of this language. */
function block(language: string): string {
  const start = PAGE.indexOf(`\`\`\`${language}\n`);
  expect(start).toBeGreaterThan(0);
  const text = PAGE.slice(start + language.length + 4);
  return text.slice(0, text.indexOf('```'));
}

test('on a terminal, the example of a log line looks as the page shows it', () => {
  expect(terminalLine(block('json'), false)).toBe(block('text'));
});

test('the table describes every field of the example that is not common to all lines', () => {
  const common = new Set(['level', 'time', 'pid', 'worker', 'method', 'path', 'function', 'msg']);
  const fields = Object.keys(JSON.parse(block('json')) as object).filter((name) => !common.has(name));
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| `'));
  expect(fields.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)))).toEqual([]);
});
