import { readFileSync } from 'node:fs';
import { cellText } from './fault-cells.ts';
import type { CellEnd } from './fault-cells.ts';
import type { UpstreamFault } from './fault-steps.ts';

const PAGE = new URL('../../docs/faults.md', import.meta.url);

/** A row of the page's tables: the fault, then the text of its cells. */
export function rowOf(fault: UpstreamFault, ends: readonly CellEnd[]): string {
  return `| ${[fault.name, ...ends.map(cellText)].join(' | ')} |`;
}

/** The rows of each table of the page, by the title of the table and the name of the fault. */
export function pageRows(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const tables = new Map<string, ReadonlyMap<string, string>>();
  for (const section of readFileSync(PAGE, 'utf8').split('\n## ').slice(1)) {
    const [title = '', ...lines] = section.split('\n');
    const rows = lines.filter((line) => line.startsWith('| ') && !line.startsWith('| the provider '));
    tables.set(title, new Map(rows.map((row) => [row.split(' | ')[0]?.slice(2) ?? '', row])));
  }
  return tables;
}
