import type { JsonValue } from '../../../base/json.ts';
import { escaped } from '../report-junit.ts';
import { promptLines } from '../test-results.ts';
import {
  comparisonText,
  failingRows,
  headLines,
  passes,
  summaryTable,
  type Comparison,
  type DataReport,
} from './data-report.ts';
import type { EvaluatedRow, RowRun } from './evaluate-rows.ts';
import { expectedValue } from './judge.ts';

/** One page that loads nothing and runs no script. Every text of definitions, rows and models is escaped. */
export function htmlDataReport(report: DataReport): string {
  const { comparisons, rows, variants } = report;
  const [title = '', ...others] = headLines(report).map(escaped);
  const names = variants.map(({ name }) => `<th>${escaped(name) || 'value'}</th>`);
  const failing = variants.length > 1 ? 'Failing with all' : 'Failing';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p>${others.join('</p><p>')}</p>
<table>${summaryTable(report).map(summaryRow).join('')}</table>
${comparisons.map((comparison) => comparisonPart(comparison, report)).join('')}
${links(failing, failingRows(report), report)}
<h2>Rows</h2>
<table>
<tr><th>id</th><th>input</th><th>expected</th>${names.join('')}</tr>
${rows.map((row, index) => rowPart(row, index)).join('\n')}
</table>
</body>
</html>
`;
}

/** The system colours follow the light or dark mode of the reader. */
const STYLE = `
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .35rem .6rem; text-align: left; vertical-align: top; }
pre { margin: .2rem 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
.failed { background: color-mix(in srgb, #d33 18%, transparent); }
.passed { background: color-mix(in srgb, #2a2 10%, transparent); }
tr[id] > th { white-space: nowrap; }
summary { cursor: pointer; }
a { margin-right: .6rem; }
`;

function summaryRow([label = '', ...cells]: readonly string[]): string {
  return `<tr><th>${escaped(label)}</th>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`;
}

function comparisonPart(comparison: Comparison, report: DataReport): string {
  const text = `<h2>${escaped(comparisonText(comparison, report))}</h2>`;
  return `${text}${links('Worse', comparison.worse, report)}${links('Better', comparison.better, report)}`;
}

/** Links to rows of the table below. */
function links(title: string, rows: readonly EvaluatedRow[], report: DataReport): string {
  if (rows.length === 0) return '';
  const wanted = new Set(rows);
  const all = report.rows.flatMap((row, index) =>
    wanted.has(row) ? [`<a href="#row-${index}">${escaped(row.row.id)}</a>`] : [],
  );
  return `<p>${title}: ${all.join(' ')}</p>`;
}

function rowPart({ row, runs }: EvaluatedRow, index: number): string {
  const { id, args, columns, expected } = row;
  const input = { ...args, ...columns };
  const wanted = expected.length === 0 ? '' : json(expectedValue(expected));
  return `<tr id="row-${index}"><th>${escaped(id)}</th><td>${json(input)}</td><td>${wanted}</td>${runs.map(runCell).join('')}</tr>`;
}

function runCell(run: RowRun | undefined): string {
  if (run === undefined) return '<td>not run</td>';
  const { value, score, reasons, latencyMs } = run;
  const facts = [
    passes(run) ? 'pass' : 'FAIL',
    ...(score === undefined ? [] : [`judge ${String(score)}`]),
    ...(latencyMs === undefined ? [] : [`${latencyMs} ms`]),
  ];
  const shown = value === undefined ? '' : json(value);
  const why = reasons.map((reason) => `<div>${escaped(reason)}</div>`).join('');
  return `<td class="${passes(run) ? 'passed' : 'failed'}"><div>${escaped(facts.join(', '))}</div>${why}${shown}${exchange(run)}</td>`;
}

/** The prompt and the reply of a run that did not pass, folded. */
function exchange(run: RowRun): string {
  if (passes(run) || run.prompt === undefined) return '';
  const prompt = `<pre>${escaped(promptLines(run.prompt).join('\n'))}</pre>`;
  return `<details><summary>prompt and reply</summary>${prompt}<pre>${escaped(run.reply ?? '')}</pre></details>`;
}

function json(value: JsonValue): string {
  return `<pre>${escaped(typeof value === 'string' ? value : JSON.stringify(value, undefined, 2))}</pre>`;
}
