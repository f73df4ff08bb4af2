import {
  fieldText,
  isRequest,
  LEVEL_COLOURS,
  painter,
  type PaintText,
  parseEntry,
  printable,
  requestLine,
  requestNotes,
  textOf,
} from './log-line.ts';
import type { LogFields } from './logger.ts';

/** Fields that a reader at a terminal does not need in every line. */
const HIDDEN = new Set(['level', 'time', 'msg', 'pid', 'worker', 'trace_id', 'span_id']);

/**
 * Turns a JSON log line into one for a terminal: time, level, message, then the fields. A request line has at most 120
 * columns. The bodies are below it, and so is the reason of a request that failed or was slow. Other fields are only in the JSON.
 */
export function terminalLine(json: string, colour: boolean): string {
  const entry = parseEntry(json);
  if (entry === undefined) return `${printable(json.trimEnd())}\n`;
  const level = textOf(entry['level']);
  const paint = painter(colour);
  const start = `${paint(90, textOf(entry['time']).slice(11, 19))} ${paint(LEVEL_COLOURS[level] ?? 0, level.padEnd(5))}`;
  if (isRequest(entry)) return `${start} ${requestLine(entry, paint)}\n${belowRequest(entry, paint)}`;
  const fields = Object.entries(entry)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${paint(90, `${name}=`)}${fieldText(value)}`);
  return `${[start, textOf(entry['msg']), ...fields].join(' ')}\n`;
}

function belowRequest(entry: LogFields, paint: PaintText): string {
  const isUsual = entry['level'] === 'info';
  const facts = isUsual ? [] : [`id: ${textOf(entry['requestId'])}`, ...requestNotes(entry)];
  const shown = ['reason', 'request', 'response'].flatMap((name) => {
    const text = textOf(entry[name]);
    return text === '' ? [] : [`${name}: ${text}`];
  });
  return [...facts, ...shown].map((text) => `${INDENT}${paint(90, text.replaceAll('\n', `\n${INDENT}`))}\n`).join('');
}

const INDENT = '         ';
