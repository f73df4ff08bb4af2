import type { DefinitionToken } from './1-parse/tokens.ts';
import * as t from './1-parse/tokens.ts';
import { tokenize } from './1-parse/tokenize.ts';

const INDENT = '  ';
const OPENERS = new Set([t.LeftBrace, t.LeftBracket, t.LeftParenthesis]);
const CLOSERS = new Set([t.RightBrace, t.RightBracket, t.RightParenthesis]);
const COMMENTS = new Set([t.LineComment, t.DocComment]);

/**
 * The text of a definition file in the usual layout: two spaces for each bracket, at most one empty line, no white space at
 * the ends of lines. Nothing but white space between tokens changes: line breaks stay where they are, and the inside of
 * strings and prompts stays as it is. Only for text without errors, where brackets are balanced.
 */
export function formatSource(text: string): string {
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const tokens = tokenize(text);
  let depth = 0;
  let result = '';
  for (const [index, token] of tokens.entries()) {
    if (token.tokenType === t.WhiteSpace) {
      result += layOut(token, { previous: tokens[index - 1], next: tokens[index + 1], depth, lineBreak });
      continue;
    }
    if (OPENERS.has(token.tokenType)) depth += 1;
    if (CLOSERS.has(token.tokenType)) depth = Math.max(0, depth - 1);
    result += COMMENTS.has(token.tokenType) ? token.image.trimEnd() : token.image;
  }
  return result === '' || result.endsWith(lineBreak) ? result : `${result}${lineBreak}`;
}

/** What stands around white space. */
interface Surroundings {
  readonly previous: DefinitionToken | undefined;
  readonly next: DefinitionToken | undefined;
  readonly depth: number;
  readonly lineBreak: string;
}

function layOut(space: DefinitionToken, { previous, next, depth, lineBreak }: Surroundings): string {
  if (previous === undefined) return '';
  const breaks = space.image.split('\n').length - 1;
  if (next === undefined) return lineBreak;
  if (breaks === 0) return ' ';
  const keepsEmptyLine = breaks > 1 && !OPENERS.has(previous.tokenType) && !CLOSERS.has(next.tokenType);
  return `${lineBreak.repeat(keepsEmptyLine ? 2 : 1)}${INDENT.repeat(Math.max(0, depth + shiftOf(next)))}`;
}

/** A closing bracket stands below its line; an attribute of a field and a member of a union continue the line above. */
function shiftOf(token: DefinitionToken): number {
  if (CLOSERS.has(token.tokenType)) return -1;
  const continues = token.tokenType === t.Pipe || (token.tokenType === t.Attribute && !token.image.startsWith('@@'));
  return continues ? 1 : 0;
}
