import { readFileSync, writeFileSync } from 'node:fs';
import { cellText, type CellEnd } from './fault-cells.ts';
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
    const rows = lines.filter(isRow);
    tables.set(title, new Map(rows.map((row) => [row.split(' | ')[0]?.slice(2) ?? '', row])));
  }
  return tables;
}

/** The row of a fault on the page. With `UPDATE_DOCS=1`, writes it first, and removes the rows of faults that the group lacks. */
export function rowOnPage(group: DocumentedGroup, fault: UpstreamFault, row: string): string | undefined {
  if (process.env['UPDATE_DOCS'] === '1' && fault.reported !== true) writeRow(group, fault, row);
  return rowHere(fault, pageRows().get(group.title)?.get(fault.name));
}

/** The row of the page on this version of Node: a fault that Node reports is an error of the provider, where the page has a time limit. */
export function rowHere({ reported }: UpstreamFault, row: string | undefined): string | undefined {
  return reported === true ? row?.replaceAll(/504 \w+/gu, '502') : row;
}

/** Faults that have a table on the page. */
export interface DocumentedGroup {
  readonly title: string;
  readonly faults: readonly UpstreamFault[];
}

function writeRow({ title, faults }: DocumentedGroup, fault: UpstreamFault, row: string): void {
  const written = pageRows().get(title);
  const rows = faults.flatMap((each) => (each === fault ? [row] : (written?.get(each.name) ?? [])));
  const sections = readFileSync(PAGE, 'utf8').split('\n## ');
  const updated = sections.map((section) => (section.startsWith(`${title}\n`) ? withRows(section, rows) : section));
  writeFileSync(PAGE, updated.join('\n## '));
}

function withRows(section: string, rows: readonly string[]): string {
  const lines = section.split('\n').filter((line) => !isRow(line));
  const head = lines.findIndex((line) => line.startsWith('|---'));
  return [...lines.slice(0, head + 1), ...rows, ...lines.slice(head + 1)].join('\n');
}

function isRow(line: string): boolean {
  return line.startsWith('| ') && !line.startsWith('| the provider ');
}
