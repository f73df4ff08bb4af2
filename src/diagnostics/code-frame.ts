import type { Severity } from './diagnostic.ts';
import type { SourceFile } from './source-file.ts';
import type { Span } from './span.ts';
import { isCredentialName, credentialsIn } from '../base/credentials.ts';

/** A longer line is cut around the marked text. */
const MAX_WIDTH = 120;
const TAB = '  ';
/** Control characters and changes of direction, with which the text of a file could manipulate the terminal. */
const CONTROL = /(?!\n)[\p{Cc}\u2028-\u202E\u2066-\u2069]/gu;
/** Characters that occupy two columns of a terminal. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/gu;
/** Characters that occupy no column: combining marks and joiners. */
const NARROW = /[\p{Mn}\p{Me}\u200B-\u200D]/gu;

/**
 * The line with the span and the one before it, with their numbers, and marks under the span. Literal credentials are masked:
 *
 *      |
 *    3 | class A {
 *    4 |   owner Persn
 *      |         ^^^^^
 */
export function codeFrame(file: SourceFile, span: Span, paint: Paint, mark: '^' | '-' = '^'): string {
  const { line, column } = file.positionAt(span.start);
  const whole = maskedText(file);
  const text = file.lineText(line, whole);
  const length = Math.min(span.end - span.start, text.length - (column - 1));
  const window = windowOf(column - 1);
  const before = visible(text.slice(window.start, column - 1));
  const marked = visible(text.slice(column - 1, Math.min(column - 1 + length, window.end)));
  const width = String(line).length;
  const margin = (content: string): string => paint.dim(`${content.padStart(width + 1)} |`);
  const marks = ' '.repeat(columns(before)) + paint.mark(mark.repeat(Math.max(1, columns(marked))));
  const shown = [`${margin(String(line))} ${visible(text.slice(window.start, window.end))}`, `${margin('')} ${marks}`];
  const previous = line > 1 ? file.lineText(line - 1, whole) : '';
  if (previous.trim() !== '' && window.start === 0) {
    shown.unshift(`${margin(String(line - 1))} ${visible(previous.slice(0, MAX_WIDTH))}`);
  }
  return [margin(''), ...shown].join('\n');
}

/** Makes text of a file safe to print: replaces tabs by spaces, and control characters by a dot. */
export function visible(text: string): string {
  return text.replaceAll('\t', TAB).replace(CONTROL, '\u00B7');
}

function windowOf(at: number): { readonly start: number; readonly end: number } {
  const start = at < MAX_WIDTH - 20 ? 0 : at - 20;
  return { start, end: start + MAX_WIDTH };
}

function columns(text: string): number {
  return [...text].length + (text.match(WIDE)?.length ?? 0) - (text.match(NARROW)?.length ?? 0);
}

/** Adds the colours of a terminal to the parts of a report. */
export interface Paint {
  severity(severity: Severity, text: string): string;
  mark(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

export const PLAIN: Paint = { severity: (_severity, text) => text, mark: same, dim: same, bold: same };

/** Uses the colours that every terminal has. */
export const COLOURED: Paint = {
  severity: (severity, text) => sequence(severity === 'error' ? '1;31' : '1;33', text),
  mark: (text) => sequence('31', text),
  dim: (text) => sequence('2', text),
  bold: (text) => sequence('1', text),
};

function same(text: string): string {
  return text;
}

function sequence(code: string, text: string): string {
  return `\u001B[${code}m${text}\u001B[0m`;
}

const masked = new WeakMap<SourceFile, string>();

/**
 * The text of a file for a report, with asterisks in the place of literal credentials: values of options and headers whose names
 * look like credentials, and passwords and keys in URLs. All other characters keep their offsets.
 */
export function maskedText(file: SourceFile): string {
  const known = masked.get(file);
  if (known !== undefined) return known;
  const text = maskLiterals(file.text);
  masked.set(file, text);
  return text;
}

/** A string on one line, the start of a raw string, a word, or a bracket of a block. An unclosed string ends with its line. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|#{1,16}"|[\w$.-]+|[{}]/gu;

/** Between a name and its value. */
const BETWEEN = /^[ \t]*[:=]?[ \t]*$/u;

/** A value without quotes, as an error can contain it: `api_key sk-1234`. Names of types rarely look like that. */
const BARE_KEY = /^(?!env\.)(?=.*\d)[\w$.-]{8,}$/u;

interface Token {
  readonly start: number;
  readonly end: number;
  /** The content without quotes. */
  readonly content: string;
  readonly isString: boolean;
}

function maskLiterals(text: string): string {
  let result = '';
  let done = 0;
  const blocks: string[] = [];
  let name: Token | undefined;
  for (const token of tokensOf(text)) {
    if (!token.isString && /^[{}]$/u.test(token.content)) {
      if (token.content === '{') blocks.push(name?.content ?? '');
      else blocks.pop();
      name = undefined;
      continue;
    }
    const named = name !== undefined && BETWEEN.test(text.slice(name.end, token.start)) ? name.content : undefined;
    const clean = named === undefined ? token.content : maskedValue(token, named, blocks.at(-1) ?? '');
    if (clean !== token.content) {
      const from = text.indexOf(token.content, token.start);
      result += text.slice(done, from) + clean;
      done = from + token.content.length;
    }
    // A string after a name is its value; any other can be a name itself.
    name = named !== undefined && token.isString ? undefined : token;
  }
  return result + text.slice(done);
}

function* tokensOf(text: string): Generator<Token> {
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const start = match.index;
    const [found] = match;
    if (found.startsWith('#')) {
      const from = start + found.length;
      const close = text.indexOf(`"${'#'.repeat(found.length - 1)}`, from);
      const to = close < 0 ? text.length : close;
      const end = Math.min(text.length, to + found.length);
      yield { start, end, content: text.slice(from, to), isString: true };
      TOKEN.lastIndex = end;
    } else {
      const isString = found.startsWith('"');
      const content = isString ? found.replace(/^"|(?<=.)"$/gu, '') : found;
      yield { start, end: start + found.length, content, isString };
      TOKEN.lastIndex = start + found.length;
    }
  }
}

function maskedValue({ content, isString }: Token, name: string, block: string): string {
  if (!isString) return isCredentialName(name) && BARE_KEY.test(content) ? stars(content) : content;
  if (isCredentialName(name)) return stars(content);
  const inHeaders = /^(?:headers|query_params)$/u.test(block);
  let clean = content;
  for (const secret of credentialsIn(inHeaders ? { headers: { [name]: content } } : { [name]: content })) {
    clean = clean.replaceAll(secret, stars(secret));
  }
  return clean;
}

function stars(text: string): string {
  return text.replaceAll(/[^\r\n]/g, '*');
}
