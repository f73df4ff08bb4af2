import { countUpTo } from '../../base/count-up-to.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DocumentNode } from './syntax-nodes.ts';

/**
 * Problems that are errors even in a block that the server does not run: either the end of the block is uncertain, so that a
 * definition after it could be lost, or the block requires another version.
 */
const ERRORS = new Set([
  'parse/unclosed-bracket',
  'parse/unmatched-bracket',
  'parse/missing-block',
  'parse/missing-brace',
  'parse/unterminated-raw-string',
  'check/version-mismatch',
]);

/** A range of offsets, `end` exclusive. */
export interface Region {
  readonly start: number;
  readonly end: number;
}

/** Turns errors in `generator` and `test` blocks into warnings: the server runs neither. */
export function lenient(diagnostics: readonly Diagnostic[], documents: readonly DocumentNode[]): readonly Diagnostic[] {
  const inBlock = new Map(
    documents.map(({ file, blocksNotServed }) => [file.path, coverageOf(blocksNotServed)] as const),
  );
  return diagnostics.map((diagnostic) => {
    const { code, severity, span } = diagnostic;
    if (severity !== 'error' || ERRORS.has(code) || inBlock.get(span.file)?.(span.start) !== true) return diagnostic;
    return { ...diagnostic, severity: 'warning' };
  });
}

/** Returns a function that reports whether an offset is in one of the regions. */
export function coverageOf(regions: readonly Region[]): (offset: number) => boolean {
  const sorted = regions.toSorted((a, b) => a.start - b.start);
  const starts = sorted.map(({ start }) => start);
  const furthestEnds: number[] = [];
  for (const { end } of sorted) furthestEnds.push(Math.max(end, furthestEnds.at(-1) ?? 0));
  return (offset) => offset < (furthestEnds[countUpTo(starts, offset) - 1] ?? 0);
}
