import { isJsonObject, parseJson } from '../base/json.ts';
import type { LogFields } from './logger.ts';

/** Details, fields and times. */
const QUIET = 90;
const GREEN = 32;

/** The lines below the first line of an entry begin where its message begins. */
const INDENT = '         ';

const LEVEL_COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 36, debug: 90 };

/** Adds a colour of the terminal to a text. */
type PaintText = (code: number, text: string) => string;

/** Without colours, texts stay unchanged. */
function painter(colour: boolean): PaintText {
  return (code, text) => (colour && text !== '' ? `\u001B[${String(code)}m${text}\u001B[0m` : text);
}

/** Returns the fields of a JSON log line; undefined for any other text. */
function parseEntry(json: string): LogFields | undefined {
  const entry = parseJson(json);
  return isJsonObject(entry) ? entry : undefined;
}

function fieldText(value: unknown): string {
  if (typeof value !== 'string') return printable(JSON.stringify(value) ?? '');
  return /^[\w.:/@+-]+$/u.test(value) ? value : printable(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : '';
}

/** Escapes control characters: a model's reply must not move the cursor or set the title of the operator's terminal. */
function printable(text: string): string {
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

function isRequest(entry: LogFields): boolean {
  return entry['msg'] === 'request' && entry['method'] !== undefined;
}

/**
 * Writes a request line, with the most important facts first:
 * `200 ok /stream/ExtractResume 1.2 s · OpenAI · 2 attempts · 812 in, 94 out · first 310 ms`.
 */
function requestLine(entry: LogFields, paint: PaintText): string {
  const status = Number(entry['status']);
  const colour = status >= 500 ? LEVEL_COLOURS['error'] : status >= 400 ? LEVEL_COLOURS['warn'] : GREEN;
  const outcome = `${fieldText(entry['status'])} ${outcomeOf(entry)}`;
  const facts = ` ${[`${pathOf(entry)} ${duration(entry['ms'])}`, ...factsOf(entry)].join(' · ')}`;
  return `${paint(colour ?? 0, outcome)}${paint(QUIET, cut(facts, LINE_COLUMNS - outcome.length))}`;
}

/** The repairs and losses of a reply, and where the time of a slow call went: one text for each. */
function requestNotes(entry: LogFields): readonly string[] {
  const { losses, times } = entry;
  const repairs = repairsIn(entry);
  return [
    repairs.length > 0 ? `repaired: ${repairs.map(fieldText).join(', ')}` : '',
    isJsonObject(losses) ? `lossy: ${Object.entries(losses).map(counted).join(', ')}` : '',
    isJsonObject(times) ? `time: ${Object.entries(times).map(timeOf).join(', ')}` : '',
  ].filter((text) => text !== '');
}

/** `8.3 ms`, `120 ms`, `12.3 s`. */
function duration(value: unknown): string {
  const ms = Number(value);
  return ms < 10_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function outcomeOf(entry: LogFields): string {
  const { error, losses, flags } = entry;
  if (typeof error === 'string') return cut(textOf(error), NAME_COLUMNS);
  if (Array.isArray(flags) && flags.includes(MADE_UP)) return 'made up';
  if (losses !== undefined) return 'lossy';
  return repairsIn(entry).length > 0 ? 'repaired' : 'ok';
}

/** The flag of a value that an offline client made up, which is no repair. */
const MADE_UP = 'made-up';

function repairsIn({ flags }: LogFields): readonly unknown[] {
  return Array.isArray(flags) ? flags.filter((flag) => flag !== MADE_UP) : [];
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

// --- a terminal -------------------------------------------------------------------------------------------------------

/** Fields that a reader at a terminal does not need in every line. */
const HIDDEN_FIELDS = new Set(['level', 'time', 'msg', 'pid', 'worker', 'trace_id', 'span_id']);

/**
 * Turns a JSON log line into one for a terminal: time, level, message, then the fields. A request line has at most 120
 * columns. The bodies are below it, and so is the reason of a request that failed or was slow. Other fields are only in the JSON.
 */
export function terminalLine(json: string, colour: boolean): string {
  const entry = parseEntry(json);
  if (entry === undefined) return `${printable(json.trimEnd())}\n`;
  const level = textOf(entry['level']);
  const paint = painter(colour);
  const start = `${paint(QUIET, textOf(entry['time']).slice(11, 19))} ${paint(LEVEL_COLOURS[level] ?? 0, level.padEnd(5))}`;
  if (isRequest(entry)) return `${start} ${requestLine(entry, paint)}\n${belowRequest(entry, paint)}`;
  const fields = Object.entries(entry)
    .filter(([name]) => !HIDDEN_FIELDS.has(name))
    .map(([name, value]) => `${paint(QUIET, `${name}=`)}${fieldText(value)}`);
  return `${[start, textOf(entry['msg']), ...fields].join(' ')}\n`;
}

function belowRequest(entry: LogFields, paint: PaintText): string {
  const isUsual = entry['level'] === 'info';
  const facts = isUsual ? [] : [`id: ${textOf(entry['requestId'])}`, ...requestNotes(entry)];
  const shown = ['reason', 'request', 'response'].flatMap((name) => {
    const text = textOf(entry[name]);
    return text === '' ? [] : [`${name}: ${text}`];
  });
  return [...facts, ...shown]
    .map((text) => `${INDENT}${paint(QUIET, text.replaceAll('\n', `\n${INDENT}`))}\n`)
    .join('');
}

// --- a person who tries functions -------------------------------------------------------------------------------------

/** Fields that mean something to programs only, or that the line shows elsewhere. */
const HIDDEN_FROM_PEOPLE = new Set([
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
    .filter(([name, value]) => !HIDDEN_FROM_PEOPLE.has(name) && value !== 0)
    .map(([name, value]) => paint(QUIET, `${name}=${fieldText(value)}`));
  const error = entry['err'] ?? entry['error'];
  const stack = isJsonObject(error) ? textOf(error['stack']) : textOf(error);
  return `${word}${[textOf(entry['msg']), ...fields].join(' ')}\n${stack === '' ? '' : indented(stack)}`;
}

function indented(text: string): string {
  return `${INDENT}${text.trimEnd().replaceAll('\n', `\n${INDENT}`)}\n`;
}
