import { COLOURED, PLAIN, visible, type Paint } from '../../../diagnostics/report-formats.ts';
import { table } from '../report-pretty.ts';
import { comparisonText, failingRows, headLines, passes, summaryTable, type DataReport } from './data-report.ts';
import type { EvaluatedRow } from './evaluate-rows.ts';

/** The other formats have all rows. */
const MOST_ROWS = 20;

/** The reasons of one run that are shown. */
const MOST_REASONS = 3;

/** For people at a terminal: the summary, what got worse, what got better, and the rows that no variant passes. */
export function prettyDataReport(report: DataReport, colour: boolean): string {
  const paint = colour ? COLOURED : PLAIN;
  const { comparisons, variants } = report;
  const [head = '', ...others] = headLines(report).map(visible);
  const parts = [
    `${[paint.bold(head), ...others].join('\n')}\n`,
    table(summaryTable(report).map((line) => line.map(visible))),
  ];
  for (const comparison of comparisons) {
    const { baseline, candidate, better, worse } = comparison;
    const name = visible(variants[candidate]?.name ?? '');
    parts.push(
      `${visible(comparisonText(comparison, report))}\n`,
      section(`worse with ${name}`, worse, { paint, shown: [candidate], report }),
      section(`better with ${name}`, better, { paint, shown: [baseline], report }),
    );
  }
  const title = variants.length > 1 ? 'failing with all' : 'failing';
  const shown = variants.map((_, at) => at);
  parts.push(section(title, failingRows(report), { paint, shown, report }));
  return parts.filter((part) => part !== '').join('\n');
}

interface SectionStyle {
  readonly paint: Paint;
  /** The variants whose reasons are shown. */
  readonly shown: readonly number[];
  readonly report: DataReport;
}

function section(title: string, rows: readonly EvaluatedRow[], style: SectionStyle): string {
  if (rows.length === 0) return '';
  const more = rows.length - MOST_ROWS;
  const end = more > 0 ? [style.paint.dim(`  … ${more} more: --format html or json lists all`)] : [];
  const lines = rows.slice(0, MOST_ROWS).flatMap((row) => rowLines(row, style));
  return `${style.paint.bold(title)}\n${[...lines, ...end].join('\n')}\n`;
}

function rowLines(
  { row, runs }: EvaluatedRow,
  { paint, shown, report: { variants } }: SectionStyle,
): readonly string[] {
  const reasons = shown.flatMap((at) => {
    const run = runs[at];
    if (run === undefined || passes(run)) return [];
    const name = shown.length > 1 ? `${variants[at]?.name ?? ''}: ` : '';
    return run.reasons.slice(0, MOST_REASONS).map((reason) => visible(name + reason));
  });
  const [first = '', ...rest] = reasons;
  return [`  ${paint.severity('error', visible(row.id))}  ${first}`, ...rest.map((reason) => `    ${reason}`)];
}
