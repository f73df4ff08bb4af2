import { expect, test } from 'vitest';
import { CHAT_FIELDS, RESPONSES_FIELDS } from '../../src/server/doors/openai/request-fields.ts';
import { generatedSection } from './generated-section.ts';
import { tableOf } from './markdown.ts';

test.each([
  ['chat fields', CHAT_FIELDS],
  ['responses fields', RESPONSES_FIELDS],
] as const)('the page lists the %s', (name, fields) => {
  const noted = Object.entries(fields).filter(([, { use }]) => use !== 'ignored');
  const rows = noted.map(([field, { use, note }]) => [`\`${field}\``, use, note]);
  const ignored = Object.entries(fields).filter(([, { use }]) => use === 'ignored');
  expect(ignored.length).toBeGreaterThan(5);
  rows.push([ignored.map(([field]) => `\`${field}\``).join(', '), 'ignored', '']);
  const { actual, expected } = generatedSection('docs/callers/openai.md', name, tableOf(['field', '', ''], rows));
  expect(actual).toBe(expected);
});
