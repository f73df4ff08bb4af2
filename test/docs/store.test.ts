import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storeAddress } from '../../src/config/store-address.ts';
import { STORE_SCRIPTS } from '../../src/policy/store/store.ts';
import { ROOT } from '../architecture/source-files.ts';
import { describedTable } from './generated-section.ts';

const PAGE = readFileSync(join(ROOT, 'docs/store.md'), 'utf8');

/** The code spans in the first cells of a table whose header begins with this cell. */
function firstCells(header: string): readonly string[] {
  const table = PAGE.slice(PAGE.indexOf(`| ${header} |`)).split('\n\n')[0] ?? '';
  const cells = table.split('\n').slice(2).map((row) => row.split('|')[1] ?? '');
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/gu)].map(([, code = '']) => code));
}

test('the table of operations lists every script', () => {
  const rows = Object.keys(STORE_SCRIPTS).map((name) => [`\`${name}\``]);
  const table = describedTable('docs/store.md', 'operations', ['operation', 'when', 'does'], rows);
  expect(table.actual, 'run the tests with UPDATE_DOCS=1').toBe(table.expected);
});

test('svc accepts every URL of the page', () => {
  const urls = [...firstCells('URL'), ...[...PAGE.matchAll(/SVC_STORE=(\S+)/gu)].map(([, url = '']) => url)];
  expect(urls.length).toBeGreaterThan(7);
  expect(urls.filter((url) => !storeAddress(url).ok)).toEqual([]);
});
