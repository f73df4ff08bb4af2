import type { ValueShape } from './syntax-nodes.ts';

/** Numbers as values and as literal types. */
export const UNQUOTED_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** What a value without quotes cannot contain; brackets that close and the comma end it. */
const FORBIDDEN = /[#@{([<>';]/;
const ENDS = new Set([',', ')', ']', '}']);
const OPENERS = new Set(['{', '(', '[']);
/** The beginning of a raw string ends a value too: the next key stands on the same line. */
const RAW_STRING = /^#{1,5}"/;
/** How far a bracket inside an invalid value may reach: a bound keeps the whole linear. */
const LONGEST_BRACKETS = 200;
const BEGINS_LIKE_NUMBER = /^-?\d/;

/** The extent of a value without quotes, and whether it may stand there. */
export interface UnquotedValue {
  readonly end: number;
  readonly valid: boolean;
}

/**
 * Reads the value without quotes at `start`: up to the end of the line, a comma, a closing bracket, or a comment after
 * a space. An invalid one swallows the brackets that it opens, as long as they close on the same line.
 */
export function unquotedValue(text: string, start: number, lineEnd: number): UnquotedValue {
  let end = start;
  let valid = true;
  let depth = 0;
  let beforeOpener = lineEnd;
  for (let at = start; at < lineEnd; at += 1) {
    const character = text[at] ?? '';
    if (depth === 0 && (ENDS.has(character) || beginsComment(text, at, start))) break;
    if (depth > 0 && at - beforeOpener > LONGEST_BRACKETS) break;
    if (depth === 0 && RAW_STRING.test(text.slice(at, at + 6))) break;
    if (FORBIDDEN.test(character)) valid = false;
    if (OPENERS.has(character)) {
      if (depth === 0) beforeOpener = at;
      depth += 1;
    } else if (ENDS.has(character) && character !== ',') depth -= 1;
    if (!isSpace(character)) end = at + 1;
  }
  if (depth > 0 && beforeOpener > start) end = beforeOpener;
  return { end, valid: valid && !isBadNumber(text.slice(start, end)) };
}

function beginsComment(text: string, at: number, start: number): boolean {
  return text.startsWith('//', at) && (at === start || isSpace(text[at - 1] ?? ''));
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t';
}

function isBadNumber(value: string): boolean {
  return BEGINS_LIKE_NUMBER.test(value) && !UNQUOTED_NUMBER.test(value);
}

const ENVIRONMENT = /^env\.([A-Za-z_]\w*)$/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['"', '"'],
  ['\\', '\\'],
]);

/** What a value without quotes stands for: true, false, null, a number, env.NAME, or text. */
export function parseScalar(text: string): ValueShape {
  if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true' };
  if (text === 'null') return { kind: 'null' };
  if (UNQUOTED_NUMBER.test(text)) return { kind: 'number', value: Number(text), text };
  const variable = ENVIRONMENT.exec(text)?.[1];
  if (variable !== undefined) return { kind: 'env', variable };
  return { kind: 'string', value: text, quoted: false };
}

/** The text of a quoted string: \n \t \" \\ are replaced, any other backslash stays as it is. */
export function unescapeString(text: string): string {
  return text.replace(/\\(.)/gs, (whole, character: string) => ESCAPES.get(character) ?? whole);
}
