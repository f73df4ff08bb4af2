import { isJsonObject, parseJson } from '../../base/json.ts';
import { skipSpace } from './candidates/scan/characters.ts';

/*
 * Frames are marks around or inside JSON that no JSON reader knows: the signs of a quotation in front of each line, another
 * level of escapes, the punctuation of another language. Each function removes one frame from a text, or returns undefined
 * unless the frame is certain. None of them changes a reply that is JSON.
 */

type Frame = readonly [name: string, strip: (text: string) => string | undefined];

const FRAMES: readonly Frame[] = [
  ['stream events', joinEvents],
  ['special tokens', stripTokens],
  ['a quotation', stripQuotation],
  ['another level of escapes', unescapeJson],
  ['full-width punctuation', asciiPunctuation],
  ['doubled braces', singleBraces],
  ['a tuple', listOfTuple],
  ['a missing first bracket', openPrefilled],
];

/** A frame inside a frame is common; more levels are noise. Each level takes time in proportion to the text. */
const MAX_FRAMES = 3;

/** Removes the frames of a reply. `frames`: their names, outermost first; empty if the reply has none. */
export function unframe(reply: string): { readonly text: string; readonly frames: readonly string[] } {
  const frames: string[] = [];
  let text = reply;
  for (let level = 0; level < MAX_FRAMES; level += 1) {
    const before = text;
    for (const [name, strip] of FRAMES) {
      const inner = strip(text);
      if (inner === undefined || inner === text) continue;
      frames.push(name);
      text = inner;
      break;
    }
    if (text === before) break;
  }
  return { text, frames };
}

// --- events of a stream ----------------------------------------------------------------------------------------------

const FIELD = /^(?:(?:data|event|id|retry):|:)/u;
/** The keys under which an event has the next part of the text. */
const PART = /^(?:content|text|delta|response|token|partial_json|completion|output_text)$/u;
const MAX_NESTING = 8;

/** Joins the text of server-sent events: `data: {"choices":[{"delta":{"content":"{\"na"}}]}`. */
function joinEvents(text: string): string | undefined {
  if (!/^\s*(?:data|event|id|retry):/u.test(text)) return undefined;
  const lines = text.split(/\r?\n/u).filter((line) => line.trim() !== '');
  if (!lines.every((line) => FIELD.test(line))) return undefined;
  const payloads = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).replace(/^ /u, '')] : []));
  const events = payloads.filter((payload) => payload !== '[DONE]').map((payload) => parseJson(payload));
  if (!events.every(isJsonObject)) return undefined;
  const byPath = new Map<string, string[]>();
  for (const event of events) collectParts(event, '', 0, byPath);
  const parts = [...byPath.values()].reduce((most, each) => (each.length > most.length ? each : most), []);
  return parts.length > 0 ? parts.join('') : undefined;
}

function collectParts(value: object, path: string, nesting: number, byPath: Map<string, string[]>): void {
  for (const [key, item] of Object.entries(value) as [string, unknown][]) {
    const at = `${path}.${key}`;
    if (typeof item === 'object' && item !== null && nesting < MAX_NESTING) collectParts(item, at, nesting + 1, byPath);
    else if (typeof item === 'string' && PART.test(key)) {
      const parts = byPath.get(at);
      if (parts === undefined) byPath.set(at, [item]);
      else parts.push(item);
    }
  }
}

// --- special tokens --------------------------------------------------------------------------------------------------

/** The tokens that separate the turns of a chat, which models repeat in their text. */
const TOKEN = String.raw`(?:<\|[\w ]{1,40}\|>(?:assistant|user|system)?|</?s>|\[/?INST\]|<(?:start|end)_of_turn>(?:model)?|<[be]os>)`;
const FIRST_TOKENS = new RegExp(String.raw`^\s*(?:${TOKEN}\s*)+`, 'u');
const LAST_TOKEN = new RegExp(String.raw`${TOKEN}$`, 'u');
const LONGEST_TOKEN = 60;
const FINAL_CHANNEL = '<|channel|>final';
const MESSAGE = '<|message|>';

function stripTokens(reply: string): string | undefined {
  const channel = reply.lastIndexOf(FINAL_CHANNEL);
  const message = channel < 0 ? -1 : reply.indexOf(MESSAGE, channel);
  let text = (message < 0 ? reply : reply.slice(message + MESSAGE.length)).replace(FIRST_TOKENS, '');
  for (;;) {
    const end = text.trimEnd();
    const token = LAST_TOKEN.exec(end.slice(-LONGEST_TOKEN))?.[0];
    if (token === undefined) return text === reply ? undefined : text;
    text = end.slice(0, -token.length);
  }
}

// --- a quotation -----------------------------------------------------------------------------------------------------

const QUOTE_SIGN = /^ {0,3}> ?/u;

/** Strips the signs of a quotation from each run of lines that begins with a bracket or a fence. */
function stripQuotation(text: string): string | undefined {
  if (!/^ {0,3}> ?\s*(?:[[{]|```)/mu.test(text)) return undefined;
  return text
    .split('\n')
    .map((line) => line.replace(QUOTE_SIGN, ''))
    .join('\n');
}

// --- escapes ---------------------------------------------------------------------------------------------------------

/** The first brackets with a scalar after them, and the escaped line breaks and backslashes between the two. */
const FIRST_MEMBER = /[[{]((?:\s|\\[nrt]|[[{]){0,80})(\\*)["\d-]/u;

/** JSON that was escaped as a string: `{\"a\": 1}`. The quotes around it can be missing. A JSON string is not a frame. */
function unescapeJson(text: string): string | undefined {
  const first = FIRST_MEMBER.exec(text);
  if (first === null || isJsonString(text)) return undefined;
  const [whole, spaces = '', backslashes = ''] = first;
  const before = text.slice(0, first.index);
  const rest = text.slice(first.index);
  if (backslashes !== '' && whole.endsWith('"')) return before + rest.replaceAll(/\\(["\\/nrt])/gu, unescaped);
  if (!spaces.includes('\\')) return undefined;
  return (
    before +
    rest.replaceAll(/\\([\\nrt])/gu, (escape, letter: string) => (letter === '\\' ? escape : unescaped(escape, letter)))
  );
}

/** True for a JSON string that contains an object or list. */
export function isJsonString(text: string): boolean {
  if (text.charAt(skipSpace(text, 0)) !== '"') return false;
  const value = parseJson(text);
  return typeof value === 'string' && FIRST_MEMBER.exec(value)?.[2] === '';
}

function unescaped(_escape: string, letter: string): string {
  return letter === 'n' ? '\n' : letter === 'r' ? '\r' : letter === 't' ? '\t' : letter;
}

// --- punctuation -----------------------------------------------------------------------------------------------------

const ASCII: Readonly<Record<string, string>> = {
  '：': ':',
  '，': ',',
  '、': ',',
  '；': ',',
  '｛': '{',
  '｝': '}',
  '［': '[',
  '］': ']',
};
/** The quotes that open strings, and those that close them. */
const QUOTES: Readonly<Record<string, string>> = { '"': '"', '“': '”“', '「': '」', '＂': '＂' };
const FOLLOWS_STRING = new Set([':', ',', '}', ']', '：', '，', '、', '｝', '］', '；', '']);

/** Full-width punctuation between the members of JSON, which models of East Asian languages write. */
function asciiPunctuation(text: string): string | undefined {
  const from = text.search(/[[{［｛]/u);
  if (from < 0 || !/[：，、［｛「＂]/u.test(text)) return undefined;
  return outsideStrings(text, from, (character) => ({ to: ASCII[character] ?? character, length: 1 }));
}

/** The braces of a template, which are doubled: `{{"a": {{"b": 1}}}}`. Objects inside can have single braces. */
function singleBraces(text: string): string | undefined {
  const from = text.search(/[[{]/u);
  if (from < 0 || !/^\{\{\s*["'\w}]/u.test(text.slice(from, from + 100))) return undefined;
  const doubled: boolean[] = [];
  return outsideStrings(text, from, (character, at) => {
    if (character !== '{' && character !== '}') return { to: character, length: 1 };
    const isPair = text.charAt(at + 1) === character;
    const isDoubled = character === '{' ? isPair : doubled.pop() === true && isPair;
    if (character === '{') doubled.push(isDoubled);
    return { to: character, length: isDoubled ? 2 : 1 };
  });
}

type Change = (character: string, at: number) => { readonly to: string; readonly length: number };

/** Applies a change to the text from an offset on, except in strings, which become strings of JSON. */
function outsideStrings(text: string, from: number, change: Change): string {
  const parts = [text.slice(0, from)];
  for (let at = from; at < text.length;) {
    const closers = QUOTES[text.charAt(at)];
    if (closers === undefined) {
      const { to, length } = change(text.charAt(at), at);
      parts.push(to);
      at += length;
      continue;
    }
    const end = stringEnd(text, at, closers);
    const string = text.slice(at, end);
    parts.push(string.startsWith('"') ? string : `"${string.slice(1, -1).replaceAll('"', String.raw`\"`)}"`);
    at = end;
  }
  return parts.join('');
}

/** Returns the position after the string whose opening quote is at `from`: it ends at a quote before punctuation. */
function stringEnd(text: string, from: number, closers: string): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\') at += 1;
    else if (closers.includes(character) && FOLLOWS_STRING.has(text.charAt(skipSpace(text, at + 1)))) return at + 1;
  }
  return text.length;
}

// --- the first bracket -----------------------------------------------------------------------------------------------

const FENCE_LINE = /^\s*```[\w-]*\n/u;
/** An opening fence after other text contains a value of its own. */
const OWN_FENCE = /\n[^\S\n]*```[\w-]*\n[^]*```/u;
/** `"key":`, or the same without its first quote. */
const FIRST_KEY = /^\s*("?)[\p{L}_$][\p{L}\p{N}_$ .-]{0,80}"\s*:/u;
const FIRST_ITEM = /^\s*(?:["'{]|-?\d)/u;

/** Adds the first bracket of a reply that the prompt already contained. */
function openPrefilled(reply: string): string | undefined {
  const fence = FENCE_LINE.exec(reply)?.[0] ?? '';
  const text = reply.slice(fence.length);
  const key = FIRST_KEY.exec(text);
  if ((key === null && !FIRST_ITEM.test(text)) || (fence === '' && OWN_FENCE.test(text))) return undefined;
  if (key === null) return closesMore(text) ? `${fence}[${text.trimStart()}` : undefined;
  // Lines after a quoted key of which none ends in a comma or a bracket are YAML.
  if (/\n[^\S\n]*["'\p{L}_$-]/u.test(text) && !/[,}\]][^\S\n]*(?:\n|`|$)/u.test(text)) return undefined;
  return `${fence}${key[1] === '"' ? '{' : '{"'}${text.trimStart()}`;
}

/** True if the text ends in a `]` that it does not open. */
function closesMore(text: string): boolean {
  if (!/\][\s`]*$/u.test(text)) return false;
  return text.split('[').length < text.split(']').length;
}

// --- a tuple ---------------------------------------------------------------------------------------------------------

const TUPLE = /(^\s*|```\w*\n\s*)\(\s*(["'\d-][^(),]*,[^()]*)\)(?=\s*(?:```|$))/u;

/** A tuple of scalars as Python writes it, alone in the reply or in a fence. */
function listOfTuple(text: string): string | undefined {
  return TUPLE.test(text) ? text.replace(TUPLE, '$1[$2]') : undefined;
}
