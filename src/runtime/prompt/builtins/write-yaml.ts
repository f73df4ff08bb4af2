import { Float } from '../values/value.ts';
import { formatForJson } from '../values/write-number.ts';
import { isEntries, isItems, type Data } from './to-json.ts';

/**
 * Writes YAML in block style, ending with a line break. The output matches BAML's, not that of the `yaml` package: it quotes `-`
 * alone, `---a` and strings that look like a number with an exponent, leaves `=`, `<<` and `nULL` unquoted, and writes every string
 * of several lines as a block.
 */
export function writeYaml(data: Data): string {
  return `${block(data, 0)}\n`;
}

function block(data: Data, level: number): string {
  if (isEntries(data) && data.size > 0) return writeEntries(data, level);
  if (isItems(data) && data.length > 0) return writeItems(data, level);
  return scalar(data, level);
}

function writeEntries(entries: ReadonlyMap<string, Data>, level: number): string {
  const pad = '  '.repeat(level);
  return [...entries]
    .map(([key, value]) => {
      const name = key.includes('\n') ? quoted(key) : writeString(key, level);
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
  if (typeof data === 'number' || data instanceof Float) return formatForJson(data);
  if (typeof data === 'string') return writeString(data, level);
  return isItems(data) ? '[]' : '{}';
}

/** Words and forms that YAML reads as another kind than a string. */
const NOT_PLAIN_WORD =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))$/u;
const LOOKS_LIKE_NUMBER =
  /^[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|0x[\da-fA-F]+|0o[0-7]+|0b[01]+)$/u;
const INDICATOR_FIRST = /^[-?:](?:\s|$)|^[,[\]{}#&*!|>'"%@`]|^---|^\.\.\./u;
const INDICATOR_INSIDE = /: |:$| #/u;
const NEEDS_ESCAPES = /[^\n\u0020-\u007e\u00a0-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]|[\u2028\u2029]| \n/u;

function writeString(text: string, level: number): string {
  if (NEEDS_ESCAPES.test(text) || (text.includes('\n') && text.endsWith(' '))) return quoted(text);
  if (text.includes('\n')) return writeLiteral(text, level);
  const plain =
    text !== '' &&
    !/^ | $/u.test(text) &&
    ![NOT_PLAIN_WORD, LOOKS_LIKE_NUMBER, INDICATOR_FIRST, INDICATOR_INSIDE].some((pattern) => pattern.test(text));
  return plain ? text : `'${text.replaceAll("'", "''")}'`;
}

/** Writes a literal block, whose header marks white space at the start of the text and line breaks at its end. */
function writeLiteral(text: string, level: number): string {
  const hint = /^[ \n]/u.test(text) ? '2' : '';
  const chomp = text === '\n' || text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-';
  const pad = '  '.repeat(Math.max(1, level + 1));
  const lines = text.replace(/\n$/u, '').split('\n');
  return `|${hint}${chomp}\n${lines.map((line) => (line === '' ? '' : pad + line)).join('\n')}`;
}

const ESCAPED =
  /[^\u0020\u0021\u0023-\u005b\u005d-\u007e\u00a0-\u2027\u202a-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/gu;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\u001b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0085', '\\N'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
]);

function quoted(text: string): string {
  return `"${text.replace(ESCAPED, (character) => SHORT_ESCAPES.get(character) ?? hexEscape(character))}"`;
}

function hexEscape(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length <= 2 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
