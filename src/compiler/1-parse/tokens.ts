import type { IToken, TokenType } from 'chevrotain';
import { createToken, Lexer } from './chevrotain.ts';

/**
 * A token as the grammar sees it. White space and comments are tokens too (all images joined are the source),
 * but the grammar never meets them: what matters of them is kept on the next token.
 */
export interface DefinitionToken extends IToken {
  /** A line break stands between this token and the one before it. */
  onNewLine: boolean;
  /** The `///` lines directly above. */
  documentation?: string;
  /** At the beginning of a line and followed by what only a definition has. */
  startsDeclaration?: true;
  /** How many brackets are open around it; an opening or closing bracket counts as outside of itself. */
  depth: number;
  /** Index of the closing bracket in the balanced list, for an opening one. */
  match?: number;
}

/** Every token except a closing brace: what a block may hold, rightly or wrongly. */
export const Anything = category('Anything');
/** A name, or a word that begins a definition somewhere else: no word is reserved by the grammar. */
export const Identifier = token('Identifier', 'a name', [Anything]);

export const Class = keyword('class');
export const Enum = keyword('enum');
export const TypeKeyword = keyword('type');
export const Function = keyword('function');
export const Client = keyword('client');
export const RetryPolicy = keyword('retry_policy');
export const Generator = keyword('generator');
export const Test = keyword('test');
export const TemplateString = keyword('template_string');
export const StringTemplate = keyword('string_template');
export const Dynamic = keyword('dynamic');
export const TypeBuilderKeyword = keyword('type_builder');
export const Let = keyword('let');
export const MapWord = keyword('map');

export const Attribute = token('Attribute', 'an attribute', [Anything]);
export const QuotedString = token('QuotedString', 'a string', [Anything]);
export const RawString = token('RawString', 'a raw string', [Anything]);
export const ExpressionToken = token('Expression', 'an expression', [Anything]);
export const Number = token('Number', 'a number', [Anything]);
/** A value without quotes: text, number, true, false, null or env.NAME. */
export const Unquoted = token('Unquoted', 'a value', [Anything]);
/** A value without quotes that contains what only quotes allow. */
export const InvalidValue = token('InvalidValue', 'a value', [Anything]);
export const UnterminatedString = token('UnterminatedString', 'a string', [Anything]);
export const UnterminatedRawString = token('UnterminatedRawString', 'a raw string', [Anything]);
export const UnterminatedExpression = token('UnterminatedExpression', 'an expression', [Anything]);
export const Stray = token('Stray', 'a character', [Anything]);
/** Stands for brackets that are nested too deep. */
export const TooDeep = token('TooDeep', 'nested brackets', [Anything]);

export const LeftBrace = token('LeftBrace', '"{"', [Anything]);
export const RightBrace = token('RightBrace', '"}"');
export const LeftParenthesis = token('LeftParenthesis', '"("', [Anything]);
export const RightParenthesis = token('RightParenthesis', '")"', [Anything]);
export const LeftBracket = token('LeftBracket', '"["', [Anything]);
export const RightBracket = token('RightBracket', '"]"', [Anything]);
export const Less = token('Less', '"<"', [Anything]);
export const Greater = token('Greater', '">"', [Anything]);
export const Comma = token('Comma', '","', [Anything]);
export const Colon = token('Colon', '":"', [Anything]);
export const Semicolon = token('Semicolon', '";"', [Anything]);
export const Equals = token('Equals', '"="', [Anything]);
export const Pipe = token('Pipe', '"|"', [Anything]);
export const Question = token('Question', '"?"', [Anything]);
export const Arrow = token('Arrow', '"->"', [Anything]);

export const WhiteSpace = token('WhiteSpace', 'white space');
export const LineComment = token('LineComment', 'a comment');
export const DocComment = token('DocComment', 'a comment');
export const BlockComment = token('BlockComment', 'a comment');

export const PUNCTUATION: ReadonlyMap<string, TokenType> = new Map([
  ['{', LeftBrace],
  ['}', RightBrace],
  ['(', LeftParenthesis],
  [')', RightParenthesis],
  ['[', LeftBracket],
  [']', RightBracket],
  ['<', Less],
  ['>', Greater],
  [',', Comma],
  [':', Colon],
  [';', Semicolon],
  ['=', Equals],
  ['|', Pipe],
  ['?', Question],
]);

const KEYWORDS = [
  Class,
  Enum,
  TypeKeyword,
  Function,
  Client,
  RetryPolicy,
  Generator,
  Test,
  TemplateString,
  StringTemplate,
  Dynamic,
  TypeBuilderKeyword,
  Let,
  MapWord,
];

/** Token types of the words that begin something somewhere, by their text. */
export const KEYWORD_TYPES: ReadonlyMap<string, TokenType> = new Map(
  KEYWORDS.map((type) => [type.name.slice('Word '.length), type]),
);

/** Everything the grammar has to know of. */
export const VOCABULARY: TokenType[] = [
  Anything,
  Identifier,
  ...KEYWORDS,
  Attribute,
  QuotedString,
  RawString,
  ExpressionToken,
  Number,
  Unquoted,
  InvalidValue,
  UnterminatedString,
  UnterminatedRawString,
  UnterminatedExpression,
  Stray,
  TooDeep,
  Arrow,
  ...PUNCTUATION.values(),
];

export function isTrivia(type: TokenType): boolean {
  return type === WhiteSpace || type === LineComment || type === DocComment || type === BlockComment;
}

function token(name: string, label: string, categories: TokenType[] = []): TokenType {
  return createToken({ name, label, pattern: Lexer.NA, categories });
}

function keyword(word: string): TokenType {
  return createToken({
    name: `Word ${word}`,
    label: `"${word}"`,
    pattern: Lexer.NA,
    categories: [Identifier, Anything],
  });
}

function category(name: string): TokenType {
  return createToken({ name, pattern: Lexer.NA });
}
