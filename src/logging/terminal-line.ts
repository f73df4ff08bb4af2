import type { LogFields } from './logger.ts';

/** The colours of levels. */
export const LEVEL_COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 36, debug: 90 };

/** Fields that a reader at a terminal does not need in every line. */
const HIDDEN = ['level', 'time', 'msg', 'pid', 'worker'];

/** Fields that the message of a request line contains, or that only a search needs. */
const HIDDEN_OF_REQUEST = ['method', 'path', 'function', 'status', 'ms', 'modelMs', 'firstTextMs', 'details'];

/**
 * Turns a JSON log line into one for a terminal: time, level, message, then the fields. The message of a request is its
 * method, path, status and time, such as `POST /call/ExtractResume 200 12.3ms`.
 */
export function terminalLine(json: string, colour: boolean): string {
  const entry = parseEntry(json);
  if (entry === undefined) return json;
  const level = textOf(entry['level']);
  const time = textOf(entry['time']).slice(11, 19);
  const paint = painter(colour);
  const isRequest = entry['msg'] === 'request' && entry['method'] !== undefined;
  const hidden = new Set(isRequest ? [...HIDDEN, ...HIDDEN_OF_REQUEST] : HIDDEN);
  const fields = Object.entries(entry)
    .filter(([name, value]) => !hidden.has(name) && !isUsual(name, value))
    .map(([name, value]) => `${paint(90, `${name}=`)}${fieldText(value)}`);
  const message = isRequest ? requestText(entry) : textOf(entry['msg']);
  return `${[paint(90, time), paint(LEVEL_COLOURS[level] ?? 0, level.padEnd(5)), message, ...fields].join(' ')}\n`;
}

/** Returns a function that adds a colour of the terminal to a text. */
export function painter(colour: boolean): (code: number, text: string) => string {
  return (code, text) => (colour && text !== '' ? `\u001B[${String(code)}m${text}\u001B[0m` : text);
}

function requestText(entry: LogFields): string {
  const [method, path, status, ms] = ['method', 'path', 'status', 'ms'].map((name) => printable(String(entry[name])));
  return `${String(method)} ${String(path)} ${String(status)} ${String(ms)}ms`;
}

/** The values that nearly every line has. */
function isUsual(name: string, value: unknown): boolean {
  return (name === 'attempts' && value === 1) || (name === 'finishReason' && value === 'stop');
}

/** Returns the fields of a JSON log line; undefined for any other text. */
export function parseEntry(json: string): LogFields | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export function fieldText(value: unknown): string {
  if (typeof value !== 'string') return printable(JSON.stringify(value) ?? '');
  return /^[\w.:/@+-]+$/u.test(value) ? value : printable(value);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : '';
}

/** Escapes control characters: a model's reply must not move the cursor or set the title of the operator's terminal. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- this escapes control characters
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/gu, (character) => {
    return character === '\r' ? '' : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
