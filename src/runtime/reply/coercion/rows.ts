import { listOf, objectOf } from '../structured/make-node.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import { spend } from './step-budget.ts';

/*
 * Lists of objects that a model writes as a table: `[["name", "age"], ["Ada", 36]]`, `{"columns": ["name", "age"], "rows":
 * [["Ada", 36]]}`, `{"name": ["Ada", "Alan"], "age": [36, 41]}`.
 */

/** Returns the rows of a table as a list of objects; undefined for other values. `hasField`: the test for the columns. */
export function rowsOf(node: ReplyNode, hasField: (key: string) => boolean): ReplyNode | undefined {
  if (node.kind === 'list') {
    const [header, ...rows] = node.items;
    return tableOf(header, rows, hasField);
  }
  const header = node.items.find((item) => isHeader(item, hasField));
  const rows = node.items.find((item) => item.kind === 'list' && item.items.length > 0 && item.items.every(isList));
  if (header !== undefined && rows !== undefined) return tableOf(header, rows.items, hasField);
  return columnsOf(node, hasField);
}

function isList({ kind }: ReplyNode): boolean {
  return kind === 'list';
}

function isHeader(node: ReplyNode | undefined, hasField: (key: string) => boolean): node is ReplyNode {
  if (node?.kind !== 'list' || node.items.length === 0) return false;
  return node.items.every((item) => item.kind === 'string' && hasField(item.text));
}

function tableOf(
  header: ReplyNode | undefined,
  rows: readonly ReplyNode[],
  hasField: (key: string) => boolean,
): ReplyNode | undefined {
  if (rows.length === 0 || !isHeader(header, hasField)) return undefined;
  if (!rows.every((row) => row.kind === 'list' && row.items.length === header.items.length)) return undefined;
  spend(rows.length * header.items.length);
  return listOf(
    rows.map(({ items }) => objectOf(items.map((item, column) => [header.items[column]?.text ?? '', item] as const))),
  );
}

function columnsOf({ keys, items }: ReplyNode, hasField: (key: string) => boolean): ReplyNode | undefined {
  const [first] = items;
  if (first === undefined || first.items.length === 0 || !keys.every(hasField)) return undefined;
  if (!items.every((item) => item.kind === 'list' && item.items.length === first.items.length)) return undefined;
  spend(items.length * first.items.length);
  return listOf(
    first.items.map((_, row) =>
      objectOf(
        items.flatMap((column, at) => column.items.slice(row, row + 1).map((item) => [keys[at] ?? '', item] as const)),
      ),
    ),
  );
}
