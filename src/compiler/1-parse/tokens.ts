import { createToken, Lexer, tokenMatcher, type IToken, type TokenType } from 'chevrotain';

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

/** All token types that the grammar can see. */
export const VOCABULARY: TokenType[] = [];
const keywords = new Map<string, TokenType>();
const punctuation = new Map<string, TokenType>();
/** The token types of keywords, by word. */
export const KEYWORD_TYPES: ReadonlyMap<string, TokenType> = keywords;
export const PUNCTUATION: ReadonlyMap<string, TokenType> = punctuation;

/** Every token except closing braces: a block can contain it, valid or not. */
export const Anything = token('Anything', 'anything', []);
/** A name or a keyword: the grammar reserves no word. */
export const Identifier = token('Identifier', 'a name');
/** A keyword that can begin a definition. */
export const DeclarationWord = token('DeclarationWord', 'a definition', [Identifier, Anything]);

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
export const TypeBuilderKeyword = keyword('type_builder', []);
export const Let = keyword('let');
export const MapWord = keyword('map', []);

export const Attribute = token('Attribute', 'an attribute');
export const QuotedString = token('QuotedString', 'a string');
export const RawString = token('RawString', 'a raw string');
export const ExpressionToken = token('Expression', 'an expression');
export const Number = token('Number', 'a number');
/** A value without quotes: a string, a number, true, false, null or env.NAME. */
export const Unquoted = token('Unquoted', 'a value');
/** A value without quotes that contains characters which require quotes. */
export const InvalidValue = token('InvalidValue', 'a value');
export const UnterminatedString = token('UnterminatedString', 'a string');
export const UnterminatedRawString = token('UnterminatedRawString', 'a raw string');
export const UnterminatedExpression = token('UnterminatedExpression', 'an expression');
export const Stray = token('Stray', 'a character');
/** The body of a function or method that is code, from its first to its last character. */
export const Code = token('Code', 'code');
/** Replaces brackets that are nested too deep. */
export const TooDeep = token('TooDeep', 'nested brackets');

export const LeftBrace = mark('LeftBrace', '{');
export const RightBrace = mark('RightBrace', '}', []);
export const LeftParenthesis = mark('LeftParenthesis', '(');
export const RightParenthesis = mark('RightParenthesis', ')');
export const LeftBracket = mark('LeftBracket', '[');
export const RightBracket = mark('RightBracket', ']');
export const Less = mark('Less', '<');
export const Greater = mark('Greater', '>');
export const Comma = mark('Comma', ',');
export const Colon = mark('Colon', ':');
export const Semicolon = mark('Semicolon', ';');
export const Equals = mark('Equals', '=');
export const Pipe = mark('Pipe', '|');
export const Question = mark('Question', '?');
export const Arrow = token('Arrow', '"->"');

export const WhiteSpace = trivia('WhiteSpace');
export const LineComment = trivia('LineComment');
export const DocComment = trivia('DocComment');
export const BlockComment = trivia('BlockComment');

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

/** The keys that show that a function calls a model. */
export const MODEL_KEYS = ['client', 'prompt'];

/** The longest part of a token that a message repeats, in characters. */
const LONGEST_QUOTE = 40;

/** The first line of a token for a message, shortened, and in quotes unless it begins with one. */
export function quoteToken({ image }: Pick<IToken, 'image'>): string {
  const line = image.split('\n', 1)[0] ?? '';
  const isShortened = line.length > LONGEST_QUOTE || line.length < image.length;
  const quoted = `${line.slice(0, LONGEST_QUOTE)}${isShortened ? '…' : ''}`;
  return quoted.startsWith('"') ? quoted : `"${quoted}"`;
}

/** True for a keyword that can begin a definition. */
export function isDeclarationWord(word: IToken): boolean {
  return tokenMatcher(word, DeclarationWord);
}

export function isTrivia(type: TokenType): boolean {
  return type === WhiteSpace || type === LineComment || type === DocComment || type === BlockComment;
}

function token(name: string, label: string, categories: TokenType[] = [Anything]): TokenType {
  const type = createToken({ name, label, pattern: Lexer.NA, categories });
  VOCABULARY.push(type);
  return type;
}

/** `categories`, besides those of every word. */
function keyword(word: string, categories: TokenType[] = [DeclarationWord]): TokenType {
  const type = token(`Word ${word}`, `"${word}"`, [...categories, Identifier, Anything]);
  keywords.set(word, type);
  return type;
}

/** A punctuation mark of one character. */
function mark(name: string, character: string, categories?: TokenType[]): TokenType {
  const type = token(name, `"${character}"`, categories);
  punctuation.set(character, type);
  return type;
}

function trivia(name: string): TokenType {
  return createToken({ name, pattern: Lexer.NA });
}
