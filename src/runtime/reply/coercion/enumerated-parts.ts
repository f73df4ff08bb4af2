import { withoutEmphasis } from '../candidates/nodes.ts';
import { stringNode, type ReplyNode } from '../text/reply-node.ts';
import { scalarNode } from '../candidates/whole-text.ts';

/*
 * The members of a list that a string enumerates.
 */

/**
 * Splits a string at its commas, semicolons, line breaks and the word `and`; empty if a comma can separate thousands. If
 * semicolons separate the numbers, the commas are decimal commas: `1,5; 2`.
 */
export function splitParts(node: ReplyNode): readonly ReplyNode[] {
  if (node.kind !== 'string' || node.text.length > MAX_PARTS_TEXT || /\d,\d{3}(?!\d)/u.test(node.text)) return [];
  const list = withoutLabel(node.text);
  if (DECIMALS.test(list)) return list.split(';').map((text) => scalarNode(text.trim().replace(',', '.')));
  const texts = list.split(/[,;\n]|\sand\s/u).map((text) => text.trim());
  return texts.filter((text) => text !== '').map((text) => scalarNode(text));
}

/** Numbers between semicolons, of which the first has a decimal comma: `1,5; 2; 3,25`. */
const DECIMALS = /^\s*[+\-−]?\d{1,15},\d{1,9}(?:\s?;\s?[+\-−]?\d{1,15}(?:,\d{1,9})?){1,200}\s*$/u;

/**
 * Splits a string in which each line has a bullet, or a number in ascending order; undefined for any other. A single line
 * keeps its number (`1. FC Köln`) and a bullet before a digit (`- 5 points`): both can belong to the text.
 */
export function listLinesOf(node: ReplyNode): readonly ReplyNode[] | undefined {
  if (node.kind !== 'string' || node.text.length > MAX_LINES_TEXT || !MARKER.test(node.text)) return undefined;
  const lines = node.text.trim().split('\n');
  const markers = lines.map((line) => MARKER.exec(line));
  if (lines.length === 1 && !BULLET.test(node.text)) return undefined;
  const isList = markers.every((marker, at) => marker !== null && isNext(marker[1] ?? '', markers[0]?.[1] ?? '', at));
  return isList ? lines.map((line, at) => stringNode(line.slice(markers[at]?.[0].length).trim())) : undefined;
}

/** Splits a string without quotes that enumerates names of a few words: `red, green and dark blue`; empty for any other. */
export function wordsOf({ kind, text, quoted }: ReplyNode): readonly ReplyNode[] {
  if (kind !== 'string' || quoted || text.length > MAX_PARTS_TEXT) return [];
  return namesIn(text).map((name) => stringNode(withoutEmphasis(name)));
}

/**
 * True for a text that is clearly a list of at least three names: after words that announce a list, or of one or two words each, or
 * with capitals. Fewer names, or longer ones, can be a sentence.
 */
export function isEnumeration(text: string): boolean {
  const names = namesIn(text);
  if (names.length < 3) return false;
  if (ANNOUNCES.test(labelOf(text))) return true;
  return names.every((name) => !/\s\S+\s/u.test(name) || CAPITALS.test(name)) && !INTERJECTION.test(names[0] ?? '');
}

function namesIn(text: string): readonly string[] {
  const label = labelOf(text);
  const rest = text.slice(label.length);
  const names = ANNOUNCES.test(label) || PLURAL.test(label) ? rest.replace(/\.\s*$/u, '') : rest;
  if (!ENUMERATION.test(names)) return [];
  const parts = names.split(',').map((part) => part.trim());
  const last = parts.pop() ?? '';
  if (parts.some((part) => /^(?:and|or|but)\s/iu.test(part)) || /^or\s|\sor\s/iu.test(last)) return [];
  // `Rock and Roll, Jazz and Blues`: the word can be inside names.
  const [, before = '', name = ''] = (parts.some((part) => / and /u.test(part)) ? null : LAST_TWO.exec(last)) ?? [];
  return name === '' ? [...parts, last.replace(/^(?:and|&)\s+/u, '')] : [...parts, before, name];
}

/** The last two names, with a word between them that no company has in its name. */
const LAST_TWO =
  /^(?!and\s|&\s)(\S[^]*?)\s+(?:and|&)\s+(?!(?:Sons?|Co|Company|Partners|Brothers|Associates)$)(\S[^]*)$/u;
/** Words that announce a list, before a colon: `The list contains:`. */
const ANNOUNCES =
  /^(?![^:]*\b(?:not|no|none|never)\b)[^:]*\b(?:are|were|includes?|included|following|follows|contains?|contained|comprises?|consists? of|mentions?|lists?)\b/iu;
/** A label in the plural, such as `Tags:`. */
const PLURAL = /^(?!\W*notes)[^:]*\p{Ll}s(?:\*\*)?:/iu;
/** A name whose words begin with capitals. */
const CAPITALS = /^\p{Lu}\S*(?: (?:\p{Lu}\S*|van|von|den|der|de|del|di|da|dos|la|le|bin|al|y|of|the|and))*$/u;
const INTERJECTION = /^(?:yes|no|sure|ok|okay|well|sorry|thanks|hello|hi|oh|however|also|then|so)$/iu;

/**
 * Splits a string in quotes that enumerates names of a few words: at semicolons, and at commas between at least three names, or two
 * in lower case, since `Paris, France` can be one. Sentences that begin with capitals are split as well, in any string. Empty
 * for any other.
 */
export function namesOf({ kind, text, quoted }: ReplyNode): readonly ReplyNode[] {
  if (kind !== 'string' || text.length > MAX_PARTS_TEXT) return [];
  const isList = quoted && (text.includes(';') ? SEMICOLONS.test(text) : COMMAS.test(text) && isCertain(text));
  if (!isList && !SENTENCES.test(text)) return [];
  const parts = text.split(text.includes(';') ? ';' : ',').map((part) => part.trim().replace(/^and /u, ''));
  return parts.some((part) => CONTINUED.test(part) || ADDRESS.test(part)) ? [] : parts.map((part) => stringNode(part));
}

/** True for three names or more, and for two that look like nothing but two. */
function isCertain(text: string): boolean {
  const parts = text.split(',');
  if (/\s(?:and|or|&)\s/u.test(parts.at(-1)?.replace(/^\s*and /u, '') ?? '')) return false;
  return parts.length > 2 || !/\p{Lu}/u.test(text) || !/,\s/u.test(text);
}

const NAME = String.raw`\s*[^\s,.;:!?"()[\]{}<>=]{1,40}(?: [^\s,.;:!?"()[\]{}<>=]{1,40}){0,3}\s*`;
const COMMAS = new RegExp(`^${NAME}(?:,${NAME}){1,60}$`, 'u');
const SEMICOLONS = new RegExp(`^${NAME}(?:;${NAME}){1,60}$`, 'u');
const SENTENCE = String.raw`\p{Lu}[^\s,.;:!?"()[\]{}<>=]{0,40}(?: [^\s,.;:!?"()[\]{}<>=]{1,40}){3,20}`;
const SENTENCES = new RegExp(`^${SENTENCE}(?:, ${SENTENCE}){1,40}$`, 'u');

/** A part that continues the one before it: `mild, but frequent`, `Acme, Inc`. */
const CONTINUED =
  /^(?:and|or|but|then|which|who|whose|where|that|with|without|not|no|so|because|if|when|while|although|though|as|for|to|in|on|at|by|from|of|including|especially|e\.?g|etc|inc|ltd|llc|jr|sr|phd|md|esq)\b/iu;
/** A part of a date or an address: `12 Main Street`, `IL 62701`. */
const ADDRESS = /^\d|\d{4,}$/u;

/** Removes the label of an enumeration: `Tags: a, b, c`. */
function withoutLabel(text: string): string {
  return text.slice(labelOf(text).length);
}

function labelOf(text: string): string {
  return LABEL.exec(text)?.[0] ?? '';
}

const LABEL = /^\s{0,20}(?:\*\*)?\p{L}[\p{L}\p{N}'’ ]{0,80}:(?:\*\*)?\s+(?=\S)/u;

/** The flag of a list of strings that a text without quotes enumerates. */
export const ENUMERATED = 'enumerated';

/** A word; an apostrophe can be inside a name (`O'Brien`), but not in `don't` or `they'll`. */
const WORD = String.raw`(?:[^\s,.;:!?"'()[\]{}<>=]|(?<=\p{L})'(?=\p{Lu}|\p{Ll}{3}|s\b)){1,40}`;
const ENUMERATION = new RegExp(String.raw`^\s*${WORD}(?: ${WORD}){0,3}(?:,\s*${WORD}(?: ${WORD}){0,4}){1,60}\s*$`, 'u');

const MAX_LINES_TEXT = 100_000;
const BULLET = /^\s*[-*•]\s+(?=[^\s\d])/u;
const MARKER = /^\s*([-*+•]|\d{1,4}[.)])\s+(?=\S)/u;

/** True if the marker of the line at this position continues the list whose first marker is `first`. */
function isNext(marker: string, first: string, at: number): boolean {
  const start = Number.parseInt(first, 10);
  return Number.isNaN(start) ? marker === first : start <= 1 && Number.parseInt(marker, 10) === start + at;
}

/** Longer strings are prose. */
const MAX_PARTS_TEXT = 1_000;
