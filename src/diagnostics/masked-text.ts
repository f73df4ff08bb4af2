import { isCredentialName } from '../base/credential-name.ts';
import { credentialsIn } from '../base/credentials-in.ts';
import type { SourceFile } from './source-file.ts';

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
