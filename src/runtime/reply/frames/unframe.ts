import { skipSpace } from '../text/characters.ts';
import { decodeEntities } from '../text/entities.ts';
import { joinFences } from './continued-fences.ts';
import { joinEvents } from './event-stream.ts';
import { stripCitations, stripWidthless } from './foreign-marks.ts';
import { stripLinePrefixes } from './line-prefixes.ts';
import { closeStrings, fromLatexQuotes } from './lost-quotes.ts';
import { addBrackets } from './missing-brackets.ts';
import { asciiPunctuation, singleBraces, stripTags, unescapeBrackets } from './outside-strings.ts';
import { openPrefilled } from './prefilled.ts';
import { fromPython, fromPythonCalls } from './python.ts';
import { lastSnapshot } from './snapshots.ts';
import { fromStructs } from './structs.ts';

/*
 * Frames are marks around or inside JSON that no JSON reader knows: the signs of a quotation in front of each
 * line, another level of escapes, the punctuation of another language. Each function removes one frame from a text, or
 * returns undefined unless the frame is certain. None of them changes a reply that is JSON.
 */

/** A reply without its frames. */
export interface Unframed {
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
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' && FIRST_MEMBER.exec(value)?.[2] === '';
  } catch {
    return false;
  }
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
