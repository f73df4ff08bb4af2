import { isJsonObject, parseJson } from '../base/json.ts';
import type { LogFields } from './logger.ts';

/** The colours of levels. */
export const LEVEL_COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 36, debug: 90 };

/** Adds a colour of the terminal to a text. */
export type PaintText = (code: number, text: string) => string;

/** Without colours, texts stay unchanged. */
export function painter(colour: boolean): PaintText {
  return (code, text) => (colour && text !== '' ? `\u001B[${String(code)}m${text}\u001B[0m` : text);
}

/** Returns the fields of a JSON log line; undefined for any other text. */
export function parseEntry(json: string): LogFields | undefined {
  const entry = parseJson(json);
  return isJsonObject(entry) ? entry : undefined;
}

export function fieldText(value: unknown): string {
  if (typeof value !== 'string') return printable(JSON.stringify(value) ?? '');
  return /^[\w.:/@+-]+$/u.test(value) ? value : printable(value);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : '';
}

/** Escapes control characters: a model's reply must not move the cursor or set the title of the operator's terminal. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- this escapes control characters
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/gu, (character) => {
    return character === '\r' ? '' : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

// --- requests --------------------------------------------------------------------------------------------------------

/** With time and level in front, a request line fits in 120 columns. */
const LINE_COLUMNS = 104;

/** The end of a path is the name of the function, whose length is unlimited. */
const PATH_COLUMNS = 42;

/** A request can choose the names of its clients. */
const NAME_COLUMNS = 24;

const GREEN = 32;
const QUIET = 90;

/** A line about a finished request. */
export function isRequest(entry: LogFields): boolean {
  return entry['msg'] === 'request' && entry['method'] !== undefined;
}

/**
 * Writes a request line, with the most important facts first:
 * `200 ok /stream/ExtractResume 1.2 s · OpenAI · 2 attempts · 812 in, 94 out · first 310 ms`.
 */
export function requestLine(entry: LogFields, paint: PaintText): string {
  const status = Number(entry['status']);
  const colour = status >= 500 ? LEVEL_COLOURS['error'] : status >= 400 ? LEVEL_COLOURS['warn'] : GREEN;
  const outcome = `${fieldText(entry['status'])} ${outcomeOf(entry)}`;
  const facts = ` ${[`${pathOf(entry)} ${duration(entry['ms'])}`, ...factsOf(entry)].join(' · ')}`;
  return `${paint(colour ?? 0, outcome)}${paint(QUIET, cut(facts, LINE_COLUMNS - outcome.length))}`;
}

/** The repairs and losses of a reply, and where the time of a slow call went: one text for each. */
export function requestNotes(entry: LogFields): readonly string[] {
  const { flags, losses, times } = entry;
  return [
    Array.isArray(flags) ? `repaired: ${flags.map(fieldText).join(', ')}` : '',
    isJsonObject(losses) ? `lossy: ${Object.entries(losses).map(counted).join(', ')}` : '',
    isJsonObject(times) ? `time: ${Object.entries(times).map(timeOf).join(', ')}` : '',
  ].filter((text) => text !== '');
}

/** `8.3 ms`, `120 ms`, `12.3 s`. */
function duration(value: unknown): string {
  const ms = Number(value);
  return ms < 10_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function outcomeOf({ error, losses, flags }: LogFields): string {
  if (typeof error === 'string') return cut(textOf(error), NAME_COLUMNS);
  if (losses !== undefined) return 'lossy';
  return flags === undefined ? 'ok' : 'repaired';
}

/** The client that answered, the number of attempts, the tokens and the time to the first text. */
function factsOf(entry: LogFields): readonly string[] {
  const { attempts, cost, firstTextMs, partials } = entry;
  const facts = [cut(textOf(entry['client']), NAME_COLUMNS)];
  if (Number(attempts) > 1) facts.push(`${fieldText(attempts)} attempts`);
  facts.push(tokens(entry['inputTokens'], entry['outputTokens']));
  if (firstTextMs !== undefined) facts.push(`first ${duration(firstTextMs)}`);
  if (Number(partials) > 0) facts.push(`${fieldText(partials)} partials`);
  if (typeof cost === 'number') facts.push(`$${cost.toFixed(6)}`);
  return facts.filter((text) => text !== '');
}

function tokens(input: unknown, output: unknown): string {
  if (input === undefined && output === undefined) return '';
  return `${fieldText(input ?? '?')} in, ${fieldText(output ?? '?')} out`;
}

function pathOf(entry: LogFields): string {
  const path = oneLine(textOf(entry['path']));
  return path.length <= PATH_COLUMNS ? path : `…${path.slice(1 - PATH_COLUMNS)}`;
}

function counted([kind, count]: readonly [string, unknown]): string {
  return `${kind}=${fieldText(count)}`;
}

function timeOf([part, ms]: readonly [string, unknown]): string {
  if (!Array.isArray(ms)) return `${fieldText(part)} ${duration(ms)}`;
  const attempts = ms.filter(isJsonObject).map(({ client, outcome, ms: took }) => {
    return `${fieldText(client)} ${fieldText(outcome)} ${duration(took)}`;
  });
  return `${fieldText(part)} (${attempts.join(', ')})`;
}

function cut(line: string, columns: number): string {
  const text = oneLine(line);
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}

/** Callers can write a line break into a name. */
function oneLine(text: string): string {
  return text.replaceAll(/[\t\n]/gu, ' ');
}
