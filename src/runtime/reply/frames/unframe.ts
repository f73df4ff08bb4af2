import { parseJson } from '../../../base/json.ts';
import { skipSpace } from '../text/characters.ts';
import { decodeEntities } from '../text/entities.ts';
import { addBrackets, closeStrings, fromLatexQuotes, openPrefilled } from './missing-marks.ts';
import {
  asciiPunctuation,
  fromStructs,
  singleBraces,
  stripCitations,
  stripTags,
  stripWidthless,
  unescapeBrackets,
} from './outside-strings.ts';
import { joinEvents, joinFences, lastSnapshot } from './pieces.ts';
import { fromPython, fromPythonCalls } from './python.ts';

/*
 * Frames are marks around or inside JSON that no JSON reader knows: the signs of a quotation in front of each
 * line, another level of escapes, the punctuation of another language. Each function removes one frame from a text, or
 * returns undefined unless the frame is certain. None of them changes a reply that is JSON.
 */

/** A reply without its frames. */
interface Unframed {
  readonly text: string;
  /** The names of the frames, outermost first. */
  readonly frames: readonly string[];
}

/** The name of a frame, and the function that removes it. */
type Frame = readonly [string, (text: string) => string | undefined];

const CALLS: Frame = ['Python calls', fromPythonCalls];

const FRAMES: readonly Frame[] = [
  ['stream events', joinEvents],
  ['special tokens', stripTokens],
  ['zero-width characters', stripWidthless],
  ['citations', stripCitations],
  ['fences of one value', joinFences],
  ['states of a stream', lastSnapshot],
  ['a prefix in front of each line', stripLinePrefixes],
  ['HTML', stripPreformatted],
  ['HTML entities', decodeMarkup],
  ['HTML tags', stripTags],
  ['CSV quotes', undoubleQuotes],
  ['another level of escapes', unescapeJson],
  ['escaped brackets', unescapeBrackets],
  ['full-width punctuation', asciiPunctuation],
  ['doubled braces', singleBraces],
  ['LaTeX quotes', fromLatexQuotes],
  ['missing quotes', closeStrings],
  ['types before brackets', fromStructs],
  ['Python', fromPython],
  ['a missing first bracket', openPrefilled],
  ['missing brackets', addBrackets],
];

/** A frame inside a frame is common; more levels are noise. Each level takes time in proportion to the text. */
const MAX_FRAMES = 4;

/**
 * Removes the frames of a reply. Returns undefined if it has none. `withCalls`: calls with named arguments are objects, in
 * a reply that has no value otherwise.
 */
export function unframe(reply: string, withCalls: boolean): Unframed | undefined {
  const functions = withCalls ? [...FRAMES, CALLS] : FRAMES;
  const frames: string[] = [];
  let text = reply;
  while (frames.length < MAX_FRAMES) {
    const next = unframeOnce(text, functions);
    if (next === undefined) break;
    frames.push(next.frame);
    text = next.text;
  }
  return frames.length === 0 ? undefined : { text, frames };
}

function unframeOnce(text: string, functions: readonly Frame[]): { frame: string; text: string } | undefined {
  for (const [frame, strip] of functions) {
    const inner = strip(text);
    if (inner !== undefined && inner !== text) return { frame, text: inner };
  }
  return undefined;
}

// --- special tokens --------------------------------------------------------------------------------------------------

/** The tokens that separate the turns of a chat, which models repeat in their text. */
const TOKEN = String.raw`(?:<\|[\w ]{1,40}\|>(?:assistant|user|system)?|</?s>|\[/?INST\]|\[TOOL_CALLS\]|<(?:start|end)_of_turn>(?:model)?|<[be]os>)`;
const FIRST_TOKENS = new RegExp(String.raw`^\s*(?:${TOKEN}\s*)+`, 'u');
const LAST_TOKEN = new RegExp(String.raw`(?:${TOKEN}|^data: \[DONE\])$`, 'mu');
const LONGEST_TOKEN = 60;

/** A repetition of the prompt, and everything before the final channel. */
const PROMPT = /^\s*\[INST\][^]*?\[\/INST\]/u;
const FINAL_CHANNEL = /^[^]*<\|channel\|>final(?:\s*json)?(?:<\|constrain\|>json)?<\|message\|>/u;

/** The channels of a reply whose special tokens are lost: `analysisI think…assistantfinalHIGH`. */
const CHANNELS = /^\s*(?:analysis|commentary)(?=[A-Z\W])[^]*assistant\s?final(?:json)?(?=[^a-z])/u;

function stripTokens(reply: string): string | undefined {
  let text = reply.replace(PROMPT, '').replace(FINAL_CHANNEL, '').replace(FIRST_TOKENS, '').replace(CHANNELS, '');
  for (;;) {
    const end = text.trimEnd();
    const token = LAST_TOKEN.exec(end.slice(-LONGEST_TOKEN))?.[0];
    if (token === undefined) return text === reply ? undefined : text;
    text = end.slice(0, -token.length);
  }
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

/** JSON in a field of CSV: its quotes are doubled, and the whole is in quotes. */
function undoubleQuotes(text: string): string | undefined {
  const inner = /^\s*"(\s*[[{][^]*[\]}]\s*)"\s*$/u.exec(text)?.[1];
  if (inner === undefined || !inner.includes('""') || /\\"|(?<!")"(?:"")*(?!")/u.test(inner)) return undefined;
  return inner.replaceAll('""', '"');
}

// --- HTML ------------------------------------------------------------------------------------------------------------

/** JSON in an element for code. */
function stripPreformatted(text: string): string | undefined {
  const inner = PREFORMATTED.exec(text)?.[1];
  return inner === undefined ? undefined : decodeEntities(inner);
}

const PREFORMATTED =
  /<(?:pre|code)\b[^>\n]{0,200}>\s*(?:<code\b[^>\n]{0,200}>)?(\s*[[{][^]*?[\]}]\s*)<\/(?:code|pre)>/iu;

/** JSON as HTML, in which all quotes are entities. The entities can be escaped once more. */
function decodeMarkup(text: string): string | undefined {
  return !text.includes('"') && QUOTE_OR_BRACKET.test(text) ? decodeEntities(text) : undefined;
}

const QUOTE_OR_BRACKET = /&(?:amp;)?(?:quot|ldquo|#34|#x22|lbrace|lcub|lbrack|lsqb|comma|#123|#91|#x7b|#x5b);/iu;

// --- a prefix in front of each line ----------------------------------------------------------------------------------

/*
 * A prefix in front of each line of JSON: the sign of a quotation, of a list, of a comment or of a diff, or a line number.
 */

/** The prefixes, each with the space after it. */
const PREFIXES: readonly RegExp[] = [
  /^ {0,3}> ?/u,
  /^ {0,3}[-*+•] /u,
  /^ {0,3}(?:#|\/\/|--|%)(?: |$)/u,
  /^ {0,3}[|│](?: |$)/u,
  /^ {0,3}\+/u,
  /^\s{0,8}\d{1,6}(?:[.):|│→\t]| [|│:]| {1,2}(?=\S| ))/u,
];

const LINE_NUMBER = PREFIXES.length - 1;

/** Strips the prefix of the first run of lines that contains JSON. Returns undefined if no run has a prefix. */
function stripLinePrefixes(text: string): string | undefined {
  if (!text.includes('\n')) return undefined;
  const lines = text.split('\n');
  for (let from = 0; from < lines.length; from += 1) {
    const pattern = PREFIXES.findIndex((prefix) => opensJson(lines[from] ?? '', prefix));
    const prefix = PREFIXES[pattern];
    if (prefix === undefined) continue;
    const to = endOfRun(lines, from, prefix, pattern === LINE_NUMBER);
    if (to - from < 2) continue;
    const inner = lines.slice(from, to).map((line) => line.replace(prefix, ''));
    if (isClosed(inner)) return [...lines.slice(0, from), ...inner, ...lines.slice(to)].join('\n');
    from = to - 1;
  }
  return undefined;
}

/** The line consists of the prefix and the beginning of a value that does not end in the line, or the opening of a fence. */
function opensJson(line: string, prefix: RegExp): boolean {
  const match = prefix.exec(line);
  if (match === null) return false;
  const rest = line.slice(match[0].length).trim();
  return /^(?:[[{]|```)/u.test(rest) && !/[\]}][,;]?$/u.test(rest);
}

/** Returns the index of the first line without the prefix, or out of the order of line numbers. */
function endOfRun(lines: readonly string[], from: number, prefix: RegExp, numbered: boolean): number {
  let to = from;
  const first = Number.parseInt(lines[from] ?? '', 10);
  while (to < lines.length) {
    const line = lines[to] ?? '';
    if (!prefix.test(line) || (numbered && Number.parseInt(line, 10) !== first + to - from)) break;
    to += 1;
  }
  return to;
}

/** The last line that is not empty ends in a bracket or closes a fence. */
function isClosed(lines: readonly string[]): boolean {
  const last = lines.findLast((line) => line.trim() !== '') ?? '';
  return /(?:[\]}][,;]?|```)\s*$/u.test(last);
}
