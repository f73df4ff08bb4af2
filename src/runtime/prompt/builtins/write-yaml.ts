import { formatNumber } from '../values/print-value.ts';
import { Float } from '../values/value.ts';
import type { Data } from './to-json.ts';

/**
 * Writes YAML in block style, ending with a line break. The output follows the reference, from which the `yaml` package's differs: it
 * leaves tabs, `=`, `<<`, `---` and `0b1` unquoted, quotes `it's: x` doubly, and writes strings that begin with blank space or end
 * with several line breaks as blocks.
 */
export function writeYaml(data: Data): string {
  return `${block(data, 0)}\n`;
}

function block(data: Data, level: number): string {
  if (isEntries(data) && data.size > 0) return writeEntries(data, level);
  if (isItems(data) && data.length > 0) return writeItems(data, level);
  return scalar(data, level);
}

function isEntries(data: Data): data is ReadonlyMap<string, Data> {
  return data instanceof Map;
}

function isItems(data: Data): data is readonly Data[] {
  return Array.isArray(data);
}

function writeEntries(entries: ReadonlyMap<string, Data>, level: number): string {
  const pad = '  '.repeat(level);
  return [...entries]
    .map(([key, value]) => {
      const name = key.includes('\n') ? JSON.stringify(key) : writeString(key, level);
      if (isEntries(value) && value.size > 0) return `${name}:\n${'  '.repeat(level + 1)}${block(value, level + 1)}`;
      if (isItems(value) && value.length > 0) return `${name}:\n${pad}${block(value, level)}`;
      return `${name}: ${scalar(value, level)}`;
    })
    .join(`\n${pad}`);
}

function writeItems(items: readonly Data[], level: number): string {
  const lines = items.map(
    (item) => `- ${typeof item === 'string' ? writeString(item, level) : block(item, level + 1)}`,
  );
  return lines.join(`\n${'  '.repeat(level)}`);
}

function scalar(data: Data, level: number): string {
  if (data === null) return 'null';
  if (typeof data === 'boolean') return String(data);
  if (typeof data === 'number' || data instanceof Float) return formatNumber(data);
  if (typeof data === 'string') return writeString(data, level);
  return isItems(data) ? '[]' : '{}';
}

/** Words and forms that YAML reads as another kind than a string. */
const NOT_PLAIN_WORD = /^(?:~|null|true|false|\.nan|[-+]?\.inf)$/iu;
const LOOKS_LIKE_NUMBER = /^[-+]?(?:\d[\d_]*\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|0x[\da-f]+|0o[0-7]+|0b[01]+)$/iu;
const INDICATOR_FIRST = /^[-?:](?:\s|$)|^[,[\]{}#&*!|>'"%@`]|^---|^\.\.\.|^=$|^<<$/u;
const INDICATOR_INSIDE = /: |:$| #/u;
// oxlint-disable-next-line no-control-regex -- control characters need escapes
const NEEDS_DOUBLE_QUOTES = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/u;

function writeString(text: string, level: number): string {
  if (NEEDS_DOUBLE_QUOTES.test(text)) return JSON.stringify(text);
  if (text.includes('\n')) return writeLiteral(text, level);
  const plain =
    text !== '' &&
    text.trim() === text &&
    ![NOT_PLAIN_WORD, LOOKS_LIKE_NUMBER, INDICATOR_FIRST, INDICATOR_INSIDE].some((pattern) => pattern.test(text));
  return plain ? text : `'${text.replaceAll("'", "''")}'`;
}

/** Writes a literal block: `|-` without and `|` with one line break at the end. */
function writeLiteral(text: string, level: number): string {
  if (/^\s/u.test(text) || text.trim() === '') return JSON.stringify(text);
  const body = text.replace(/\n$/u, '');
  if (body.endsWith('\n')) return JSON.stringify(text);
  const pad = '  '.repeat(Math.max(1, level + 1));
  const lines = body.split('\n').map((line) => (line === '' ? '' : pad + line));
  return `${body === text ? '|-' : '|'}\n${lines.join('\n')}`;
}
