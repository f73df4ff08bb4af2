import { invariant } from '../../base/invariant.ts';

/**
 * Returns the JSON text of each member of an object, given as valid JSON text. Unlike values that JSON.parse returns, the texts
 * keep every digit of a number.
 */
export function memberTexts(json: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(json, 0) + 1;
  invariant(json[at - 1] === '{', 'only an object has members');
  for (;;) {
    at = skipSpace(json, at);
    if (json[at] === '}') return members;
    if (json[at] === ',') at = skipSpace(json, at + 1);
    const keyEnd = endOfString(json, at);
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const end = endOfValue(json, start);
    members.set(JSON.parse(json.slice(at, keyEnd)) as string, json.slice(start, end).trimEnd());
    at = end;
  }
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at += 1;
  return at;
}

/** The index after the closing quote of the string that begins here. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') {
    invariant(at < json.length, 'a string of valid JSON ends');
    at += json[at] === '\\' ? 2 : 1;
  }
  return at + 1;
}

/** The index of the comma or bracket after the value that begins here. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    const character = json[at];
    invariant(character !== undefined, 'a value of valid JSON ends');
    if (character === '"') {
      at = endOfString(json, at);
      continue;
    }
    if (depth === 0 && (character === ',' || character === '}')) return at;
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    at += 1;
  }
}
