import { createToken, Lexer, type IToken, type TokenType } from 'chevrotain';

/**
 * A token of a definition file. White space and comments are tokens too, so that the joined images are the source, but
 * the grammar never sees them: the next token carries the information that it needs.
 */
export interface DefinitionToken extends IToken {
  /** A line break separates this token from the previous one. */
  onNewLine: boolean;
  /** An empty line separates this token from the previous one. */
  afterEmptyLine?: true;
  /** The `///` lines directly above. */
  documentation?: string;
  /** The token begins a line and a definition, as the tokens after it show. */
  startsDeclaration?: true;
  /** The number of open brackets around it. A bracket is outside of itself. */
  depth: number;
  /** For an opening bracket: the index of its partner in the balanced tokens. */
  match?: number;
}

/** Every token except closing braces: a block can contain it, valid or not. */
export const Anything = createToken({ name: 'Anything', pattern: Lexer.NA });
/** A name or a keyword: the grammar reserves no word. */
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
/** A value without quotes: a string, a number, true, false, null or env.NAME. */
export const Unquoted = token('Unquoted', 'a value', [Anything]);
/** A value without quotes that contains characters which require quotes. */
export const InvalidValue = token('InvalidValue', 'a value', [Anything]);
export const UnterminatedString = token('UnterminatedString', 'a string', [Anything]);
export const UnterminatedRawString = token('UnterminatedRawString', 'a raw string', [Anything]);
export const UnterminatedExpression = token('UnterminatedExpression', 'an expression', [Anything]);
export const Stray = token('Stray', 'a character', [Anything]);
/** Replaces brackets that are nested too deep. */
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

/** The token types of keywords, by word. */
export const KEYWORD_TYPES: ReadonlyMap<string, TokenType> = new Map(
  KEYWORDS.map((type) => [type.name.slice('Word '.length), type]),
);

/** All token types that the grammar can see. */
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

/** The keys of functions, clients, retry policies and tests that can follow another entry on its line. */
export const BLOCK_KEYS: ReadonlySet<string> = new Set([
  'client',
  'prompt',
  'provider',
  'retry_policy',
  'options',
  'max_retries',
  'strategy',
  'functions',
  'args',
]);

/** The longest part of a token that a message repeats, in characters. */
const LONGEST_QUOTE = 40;

/** The first line of a token for a message, shortened, and in quotes unless it begins with one. */
export function quoteToken({ image }: Pick<IToken, 'image'>): string {
  const line = image.split('\n', 1)[0] ?? '';
  const isShortened = line.length > LONGEST_QUOTE || line.length < image.length;
  const quoted = `${line.slice(0, LONGEST_QUOTE)}${isShortened ? '…' : ''}`;
  return quoted.startsWith('"') ? quoted : `"${quoted}"`;
}

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
