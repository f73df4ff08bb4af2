import { isJsonObject } from '../base/json.ts';
import type { LogFields } from './logger.ts';
import { fieldText, LEVEL_COLOURS, painter, parseEntry, textOf } from './terminal-line.ts';

type Paint = ReturnType<typeof painter>;

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
 * Turns a JSON log line into lines for a person who tries functions: `14:03:22 200 POST /call/ExtractResume 12 ms · OpenAI`
 * for a request, with the reason of a failure below it, and the messages and the reply of a model as they are. Leaves out
 * the bodies of requests, which a person sees elsewhere.
 */
export function prettyLine(json: string, colour: boolean): string {
  const entry = parseEntry(json);
  if (entry === undefined) return json;
  if (entry['msg'] === 'request' && Number(entry['status']) < 500 && OF_PLAYGROUND.test(textOf(entry['path'])))
    return '';
  if (entry['msg'] === PART_OF_RELOAD && entry['reason'] === 'reload') return '';
  const paint = painter(colour);
  const time = paint(QUIET, localTime(entry['time']));
  if (entry['msg'] === 'request' && entry['method'] !== undefined) return `${time} ${requestLines(entry, paint)}`;
  if (entry['msg'] === 'model') return `${time} ${modelLines(entry, paint)}`;
  return `${time} ${otherLines(entry, paint)}`;
}

function localTime(time: unknown): string {
  const date = new Date(String(time));
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleTimeString('en-GB');
}

function requestLines(entry: LogFields, paint: Paint): string {
  const status = Number(entry['status']);
  const colour = status >= 500 ? LEVEL_COLOURS['error'] : status >= 400 ? LEVEL_COLOURS['warn'] : 32;
  const head = `${paint(colour ?? 0, String(status))} ${textOf(entry['method'])} ${textOf(entry['path'])}`;
  const facts = [`${milliseconds(entry['ms'])}`, ...factsOf(entry)].join(' · ');
  const details = detailsOf(entry['details']);
  // The reason quotes the first detail.
  const below = details.length > 1 ? details : [textOf(entry['reason'])].filter((text) => text !== '');
  return `${head} ${paint(QUIET, facts)}\n${below.map((text) => indented(text)).join('')}`;
}

function detailsOf(json: unknown): readonly string[] {
  const details = typeof json === 'string' ? parsed(json) : undefined;
  if (!Array.isArray(details)) return [];
  return details.filter(isJsonObject).map(({ path, message }) => {
    return path === '' ? textOf(message) : `${textOf(path)}: ${textOf(message)}`;
  });
}

/** The facts about a call that a person looks for: who answered, for how many tokens, after how much trouble. */
function factsOf(entry: LogFields): readonly string[] {
  const facts = [textOf(entry['client']), tokens(entry['inputTokens'], entry['outputTokens'])];
  if (typeof entry['cost'] === 'number') facts.push(`$${entry['cost'].toFixed(6)}`);
  if (Number(entry['attempts']) > 1) facts.push(`${fieldText(entry['attempts'])} attempts`);
  if (Number(entry['partials']) > 0) facts.push(`${fieldText(entry['partials'])} partials`);
  if (Array.isArray(entry['flags'])) facts.push(`repaired: ${entry['flags'].map(fieldText).join(', ')}`);
  if (isJsonObject(entry['losses'])) facts.push(`lossy: ${fieldText(entry['losses'])}`);
  facts.push(textOf(entry['error']));
  return facts.filter((text) => text !== '');
}

function tokens(input: unknown, output: unknown): string {
  if (input === undefined && output === undefined) return '';
  return `${fieldText(input ?? '?')} tokens in, ${fieldText(output ?? '?')} out`;
}

function milliseconds(value: unknown): string {
  const ms = Number(value);
  return ms < 10_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** At level debug: the prompt, message by message, and the reply. */
function modelLines(entry: LogFields, paint: Paint): string {
  const lines = promptOf(entry['prompt']).map(([role, text]) => `${indented(paint(36, role))}${indented(text)}`);
  const reply = textOf(entry['reply']);
  if (reply !== '') lines.push(`${indented(paint(36, 'reply'))}${indented(reply)}`);
  const failed = textOf(entry['failed']);
  if (failed !== '') lines.push(`${indented(paint(31, 'failed attempts'))}${indented(failed)}`);
  return `model\n${lines.join('')}`;
}

/** The role and the content of each message; the whole text if it was cut. */
function promptOf(text: unknown): ReadonlyArray<readonly [role: string, text: string]> {
  const messages = typeof text === 'string' ? parsed(text) : undefined;
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

function otherLines(entry: LogFields, paint: Paint): string {
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

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
