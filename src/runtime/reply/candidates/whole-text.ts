import { settleBareToken } from './scan/bare-reader.ts';
import { skipSpace } from './scan/characters.ts';
import { ReplyNode, stringNode } from './scan/reply-node.ts';

/*
 * A reply that is neither an object nor a list, read as a whole: models write a string, a number or a word as it is, in
 * quotes, or in a fence.
 */

/** The first line of a fence of three or more backticks or tildes. */
const FENCE = /^(`{3,}|~{3,})[^\n`]{0,120}\n/u;

/** Returns the text inside the fence that is the whole text; undefined for any other text. The end can be missing. */
export function fenceBody(raw: string): string | undefined {
  const start = skipSpace(raw, 0);
  if (!raw.startsWith('```', start) && !raw.startsWith('~~~', start)) return undefined;
  const text = raw.trim();
  const [opening, fence = ''] = FENCE.exec(text) ?? [];
  if (opening === undefined) return undefined;
  const body = text.slice(opening.length);
  const end = body.indexOf(fence);
  if (end < 0) return body;
  return end + fence.length === body.length ? body.slice(0, end) : undefined;
}

/** Returns the string in quotes that is all the content of the only fence in a text; undefined for any other text. */
export function fencedString(text: string): string | undefined {
  const [, body, after, ...more] = text.split('```');
  if (body === undefined || after === undefined || more.length > 0) return undefined;
  const string = body.slice(body.indexOf('\n') + 1).trim();
  return string.startsWith('"') ? unquote(string) : undefined;
}

/**
 * Returns the scalar that JSON would read from the text without the fence around it, otherwise the text as a string.
 * `takesText`: the type includes strings, so that `null` is the only spelling of null.
 */
export function scalarNode(raw: string, takesText = false): ReplyNode {
  const text = (fenceBody(raw) ?? raw).trim();
  const inner = unquote(text);
  if (inner !== undefined) {
    const string = stringNode(inner);
    string.quoted = text.startsWith('"');
    return string;
  }
  const node = new ReplyNode('bare');
  node.text = text;
  settleBareToken(node);
  if (takesText && node.kind === 'null' && text !== 'null') return stringNode(text);
  node.repairs = 0;
  return node;
}

/** Returns the content of a text that is a single string in quotes. A closing double quote can be missing. */
function unquote(text: string): string | undefined {
  const quote = text.charAt(0);
  if (!QUOTES.has(quote) || text.length < 2) return undefined;
  const isOpen = quote === '"' && !text.includes(quote, 1);
  if (!isOpen && !text.endsWith(quote)) return undefined;
  try {
    const json = text.replaceAll(/[\n\r\t]/gu, escaped);
    const value: unknown = JSON.parse(isOpen ? `${json}"` : json);
    return typeof value === 'string' ? value : undefined;
  } catch {
    const inner = text.slice(1, -1);
    if (inner.length > 4 && inner.startsWith('""') && inner.endsWith('""')) return inner.slice(2, -2);
    return isOpen || inner.includes(quote) || inner.includes('\n') ? undefined : inner;
  }
}

const QUOTES: ReadonlySet<string> = new Set(['"', "'", '`']);

/** Escapes a line break or tab, which JSON does not allow in strings otherwise. */
function escaped(character: string): string {
  return JSON.stringify(character).slice(1, -1);
}
