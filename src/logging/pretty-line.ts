import { isJsonObject, parseJson } from '../base/json.ts';
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

const QUIET = 90;

/** Fields that mean something to programs only, or that the line shows elsewhere. */
const HIDDEN = new Set([
  'level',
  'time',
  'msg',
  'pid',
  'worker',
  'workerPid',
  'requestId',
  'trace_id',
  'span_id',
  'program',
  'signal',
  'err',
  'error',
]);

/** The playground requests the prompt after each change of the arguments. */
const OF_PLAYGROUND = /\/(?:render|parse)\/[^/]*$/u;

/** A person who saved a file waits for the end of the reload, which is reported elsewhere. */
const PART_OF_RELOAD = 'a worker is replaced';

/**
 * Turns a JSON log line into lines for a person who tries functions: `14:03:22 200 ok /call/ExtractResume 12 ms · OpenAI`
 * for a request, with the reason of a failure and the repairs of the reply below it, and the messages and the reply of a model
 * unchanged. Leaves out the bodies of requests, which a person sees elsewhere.
 */
export function prettyLine(json: string, colour: boolean): string {
  const entry = parseEntry(json);
  if (entry === undefined) return `${printable(json.trimEnd())}\n`;
  if (entry['msg'] === 'request' && Number(entry['status']) < 500 && OF_PLAYGROUND.test(textOf(entry['path'])))
    return '';
  if (entry['msg'] === PART_OF_RELOAD && entry['reason'] === 'reload') return '';
  const paint = painter(colour);
  const time = paint(QUIET, localTime(entry['time']));
  if (isRequest(entry)) return `${time} ${requestLines(entry, paint)}`;
  if (entry['msg'] === 'model') return `${time} ${modelLines(entry, paint)}`;
  return `${time} ${otherLines(entry, paint)}`;
}

function localTime(time: unknown): string {
  const date = new Date(String(time));
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleTimeString('en-GB');
}

function requestLines(entry: LogFields, paint: PaintText): string {
  const details = detailsOf(entry['details']);
  // The reason quotes the first detail.
  const reasons = details.length > 1 ? details : [textOf(entry['reason'])].filter((text) => text !== '');
  const below = [...reasons, ...requestNotes(entry)];
  return `${requestLine(entry, paint)}\n${below.map((text) => indented(text)).join('')}`;
}

function detailsOf(json: unknown): readonly string[] {
  const details = typeof json === 'string' ? parseJson(json) : undefined;
  if (!Array.isArray(details)) return [];
  return details.filter(isJsonObject).map(({ path, message }) => {
    return path === '' ? textOf(message) : `${textOf(path)}: ${textOf(message)}`;
  });
}

/** At level debug: the prompt, message by message, and the reply. */
function modelLines(entry: LogFields, paint: PaintText): string {
  const lines = promptOf(entry['prompt']).map(([role, text]) => `${indented(paint(36, role))}${indented(text)}`);
  const reply = textOf(entry['reply']);
  if (reply !== '') lines.push(`${indented(paint(36, 'reply'))}${indented(reply)}`);
  const failed = textOf(entry['failed']);
  if (failed !== '') lines.push(`${indented(paint(31, 'failed attempts'))}${indented(failed)}`);
  return `model\n${lines.join('')}`;
}

/** The role and the content of each message; the whole text if it was cut. */
function promptOf(text: unknown): ReadonlyArray<readonly [role: string, text: string]> {
  const messages = typeof text === 'string' ? parseJson(text) : undefined;
  if (!Array.isArray(messages)) return [['prompt', textOf(text)]];
  return messages
    .filter(isJsonObject)
    .map((message) => [textOf(message['role']), contentOf(message['parts'])] as const);
}

function contentOf(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  return parts
    .filter(isJsonObject)
    .map((part) => (part['kind'] === 'text' ? textOf(part['text']) : `[${textOf(part['media'])}]`))
    .join('\n');
}

function otherLines(entry: LogFields, paint: PaintText): string {
  const level = textOf(entry['level']);
  const word = level === 'info' ? '' : `${paint(LEVEL_COLOURS[level] ?? 0, level)} `;
  const fields = Object.entries(entry)
    .filter(([name, value]) => !HIDDEN.has(name) && value !== 0)
    .map(([name, value]) => paint(QUIET, `${name}=${fieldText(value)}`));
  const error = entry['err'] ?? entry['error'];
  const stack = isJsonObject(error) ? textOf(error['stack']) : textOf(error);
  return `${word}${[textOf(entry['msg']), ...fields].join(' ')}\n${stack === '' ? '' : indented(stack)}`;
}

function indented(text: string): string {
  return `         ${text.trimEnd().replaceAll('\n', '\n         ')}\n`;
}
