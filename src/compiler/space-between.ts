import type { DefinitionToken } from './1-parse/tokens.ts';
import * as t from './1-parse/tokens.ts';

/** Two tokens of one line, and what is around them. */
export interface Neighbours {
  readonly previous: DefinitionToken;
  readonly next: DefinitionToken;
  /** White space stands between them now. */
  readonly apart: boolean;
  /** Keys and values are around, and not names and types. */
  readonly inMap: boolean;
  /** How many brackets are open around. */
  readonly depth: number;
  /** The brackets of `map<…>` or `client<…>` are open, or are these. */
  readonly inAngles: boolean;
}

const COMMENTS = new Set<DefinitionToken['tokenType']>([t.LineComment, t.DocComment, t.BlockComment]);
const BRACES = new Set<DefinitionToken['tokenType']>([t.LeftBrace, t.RightBrace]);
const NONE_BEFORE = new Set<DefinitionToken['tokenType']>([
  t.Comma,
  t.Colon,
  t.Semicolon,
  t.RightParenthesis,
  t.RightBracket,
]);
const NONE_AFTER = new Set<DefinitionToken['tokenType']>([t.LeftParenthesis, t.LeftBracket]);
const ONE_AROUND = new Set<DefinitionToken['tokenType']>([t.Pipe, t.Arrow, t.Equals]);
const ONE_AFTER = new Set<DefinitionToken['tokenType']>([t.Comma, t.Colon]);

/** What stands between two tokens of one line in the usual layout: one space or none. */
export function spaceBetween(neighbours: Neighbours): '' | ' ' {
  const { previous, next, apart } = neighbours;
  if (COMMENTS.has(next.tokenType) || COMMENTS.has(previous.tokenType)) return ' ';
  if (previous.tokenType === t.LeftBrace && next.tokenType === t.RightBrace) return '';
  if (NONE_BEFORE.has(next.tokenType) || NONE_AFTER.has(previous.tokenType)) return '';
  if (BRACES.has(next.tokenType) || BRACES.has(previous.tokenType)) return ' ';
  if (ONE_AROUND.has(next.tokenType) || ONE_AROUND.has(previous.tokenType)) return ' ';
  if (ONE_AFTER.has(previous.tokenType)) return ' ';
  if (next.tokenType === t.LeftParenthesis) return beforeParenthesis(neighbours);
  if (next.tokenType === t.LeftBracket) return neighbours.inMap ? ' ' : '';
  if (!neighbours.inMap && isTight(neighbours)) return '';
  return apart || next.tokenType === t.RawString || next.tokenType === t.Attribute ? ' ' : '';
}

/** `F(`, `@alias(`, but `field (A | B)`. */
function beforeParenthesis({ previous, apart, depth }: Neighbours): '' | ' ' {
  if (previous.tokenType === t.Attribute || depth === 0) return '';
  return apart ? ' ' : '';
}

/** `T?`, and the brackets of `map<K, V>`. */
function isTight({ previous, next, inAngles }: Neighbours): boolean {
  if (next.tokenType === t.Question) return true;
  return inAngles && (previous.tokenType === t.Less || next.tokenType === t.Less || next.tokenType === t.Greater);
}
