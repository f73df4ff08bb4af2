import { parseJson } from '../../../base/json.ts';
import { stringNode, type ReplyNode } from '../text/reply-node.ts';
import { bareNode, DECLARED_TYPE, jsonOf, listOf, objectOf } from './make-node.ts';

/*
 * YAML in block style, as models write it: mappings, sequences, block scalars, quoted strings, and JSON as the value of a
 * key. Does not read anchors, tags or several documents. A text with a line that is not YAML does not count as YAML, because
 * other readings of its lines tolerate more.
 */

interface Line {
  readonly indent: number;
  /** Without the indent and the spaces at the end. */
  readonly text: string;
  readonly raw: string;
}

/** The text is not YAML. */
class NotYaml extends Error {}

const MAX_NESTING = 50;

/** Returns the mapping or sequence of a reply in YAML: its fence, or its text without the paragraphs around it. */
export function yamlValues(text: string): readonly ReplyNode[] {
  const fences = [...text.matchAll(FENCE)];
  const tagged = fences.filter(([, tag = '']) => /^ya?ml$/iu.test(tag));
  const fence = tagged.at(-1) ?? (fences.length === 1 ? fences[0] : undefined);
  const texts = fence === undefined ? bodiesOf(text) : [fence[2] ?? ''];
  for (const each of texts) {
    const value = yamlValue(each);
    if (value !== undefined) return [value];
  }
  return [];
}

const FENCE = /^```([^\s`]*)[^\n]*\n([^]*?)^```[^\S\n]*$/gmu;

/** Returns the text, also without a first line that introduces it, without a last paragraph of prose, and without both. */
function bodiesOf(text: string): readonly string[] {
  const first = /^\s*\S[^\n]*:[^\S\n]*\n\s*\n/u.exec(text)?.[0].length ?? 0;
  const last = text.trimEnd().lastIndexOf('\n\n');
  const ends = last > first && !VALUE_LINE.test(text.slice(last)) ? [text.length, last] : [text.length];
  const starts = first > 0 ? [0, first] : [0];
  return starts.flatMap((from) => ends.map((to) => text.slice(from, to)));
}

/** A line with a bullet, a number, a heading, a cell, a fence, or a key with a value. */
const VALUE_LINE =
  /^[ \t]*(?:[-*+•|]\s|\d{1,4}[.)]\s|#{1,6}\s|```|\|[^\n]*\||[*_"']{0,3}[\p{L}_][\p{L}\p{N}_-]{0,40}[*_"']{0,3}:[*_]{0,3}\s+\S)/mu;

function yamlValue(text: string): ReplyNode | undefined {
  const body = text.replace(/^\s*---[^\S\n]*\n/u, '').replace(/\n(?:\.\.\.|---)\s*$/u, '');
  if (!body.includes('\n')) return undefined;
  try {
    const reader = new YamlReader(body);
    return reader.read();
  } catch (error) {
    if (error instanceof NotYaml) return undefined;
    throw error;
  }
}

/** A key and the text after its colon. The characters that begin other notations do not begin a plain key. */
const MEMBER = /^("(?:[^"\\]|\\.){0,200}"|'[^']{0,200}'|[^\s"'#&*!|>%@`{}[\],?:-][^\n:#"]{0,80}?)\s*:(?:\s+(.*))?$/u;
const ITEM = /^-(?:\s+(.*))?$/u;
const BLOCK = /^([|>])([+-]?)\d?$/u;

class YamlReader {
  readonly #lines: Line[];
  #at = 0;
  #nesting = 0;

  constructor(body: string) {
    this.#lines = body.split('\n').map((raw) => lineOf(raw));
  }

  read(): ReplyNode {
    const value = this.#below(-1);
    if (value === undefined || this.#next() !== undefined) throw new NotYaml();
    return value;
  }

  /** Returns the next line with content, which is then the current one. */
  #next(): Line | undefined {
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at];
      if (line !== undefined && line.text !== '' && !line.text.startsWith('#')) return line;
      this.#at += 1;
    }
    return undefined;
  }

  /** Reads the mapping or sequence whose lines are deeper than `indent`; undefined if there is none. */
  #below(indent: number): ReplyNode | undefined {
    const line = this.#next();
    if (line === undefined || line.indent <= indent) return undefined;
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) throw new NotYaml();
    const value = ITEM.test(line.text) ? this.#sequence(line.indent) : this.#mapping(line.indent);
    this.#nesting -= 1;
    return value;
  }

  #sequence(indent: number): ReplyNode {
    const items: ReplyNode[] = [];
    for (let line = this.#next(); line?.indent === indent; line = this.#next()) {
      const [item, text = ''] = ITEM.exec(line.text) ?? [];
      if (item === undefined) break;
      items.push(this.#item(line, text));
    }
    return listOf(items);
  }

  #item(line: Line, text: string): ReplyNode {
    if (text === '') return this.#emptied(line.indent);
    if (!MEMBER.test(text) && !ITEM.test(text)) return this.#scalar(text, line.indent);
    // The mapping or sequence begins on the line of the dash.
    const indent = line.indent + line.text.length - text.length;
    this.#lines[this.#at] = { indent, text, raw: line.raw };
    const from = this.#at;
    const value = this.#below(line.indent) ?? stringNode('');
    // A string takes a line with a colon as it is.
    if (value.kind === 'object' && this.#at === from + 1) value.text = text.replace(COMMENT, '');
    return value;
  }

  #mapping(indent: number): ReplyNode {
    const members = new Map<string, ReplyNode>();
    for (let line = this.#next(); line?.indent === indent; line = this.#next()) {
      const [member, key = '', text = ''] = MEMBER.exec(line.text) ?? [];
      if (member === undefined) break;
      const name = /^["']/u.test(key) ? quotedOf(key) : key;
      if (members.has(name)) throw new NotYaml();
      members.set(
        name,
        text.replace(/^#\s.*$/u, '').trim() === '' ? this.#value(indent) : this.#scalar(text.trim(), indent),
      );
    }
    if (members.size === 0) throw new NotYaml();
    return objectOf(members);
  }

  /** Reads the value below a key; the items of a sequence can be at the column of their key. */
  #value(indent: number): ReplyNode {
    this.#at += 1;
    const line = this.#next();
    if (line?.indent === indent && ITEM.test(line.text)) return this.#sequence(indent);
    return this.#below(indent) ?? nullNode();
  }

  #emptied(indent: number): ReplyNode {
    this.#at += 1;
    return this.#below(indent) ?? nullNode();
  }

  /** Reads a scalar, or JSON, which begins on the current line. */
  #scalar(text: string, indent: number): ReplyNode {
    this.#at += 1;
    const block = BLOCK.exec(text.replace(COMMENT, ''));
    if (block !== null) return stringNode(this.#block(indent, block[1] === '|', block[2] === '+'));
    if (/^["']/u.test(text)) {
      const string = stringNode(quotedOf(text.replace(/(["'])\s+#[^"']*$/u, '$1')));
      string.quoted = true;
      return string;
    }
    if (/^[[{]/u.test(text)) return jsonOf(text.replace(COMMENT, '')) ?? fail();
    if (/^[&*!|>%@`]/u.test(text) || DECLARED_TYPE.test(text)) throw new NotYaml();
    return bareNode([text.replace(COMMENT, ''), ...this.#continuations(indent)].join(' '));
  }

  /** Reads the deeper lines that continue a plain scalar. */
  #continuations(indent: number): string[] {
    const lines: string[] = [];
    for (let line = this.#lines[this.#at]; isContinuation(line, indent); line = this.#lines[this.#at]) {
      lines.push(line.text);
      this.#at += 1;
    }
    return lines;
  }

  /** Reads the lines of a block scalar, without their common indent. */
  #block(indent: number, isLiteral: boolean, keepsEnd: boolean): string {
    const from = this.#at;
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at];
      if (line !== undefined && line.text !== '' && line.indent <= indent) break;
      this.#at += 1;
    }
    const lines = this.#lines.slice(from, this.#at);
    const column = Math.min(...lines.filter(({ text }) => text !== '').map((line) => line.indent));
    const rows = lines.map(({ raw }) => raw.slice(column).trimEnd());
    const block = isLiteral ? rows.join('\n') : rows.join('\n').replaceAll(/(?<!\n)\n(?![\n ])/gu, ' ');
    return keepsEnd ? block : block.trimEnd();
  }
}

/** A comment begins with a hash and a space: `order #441` is text. */
const COMMENT = /\s+#\s.*$/u;

function lineOf(raw: string): Line {
  const text = raw.trim();
  return { indent: raw.length - raw.trimStart().length, text, raw };
}

function isContinuation(line: Line | undefined, indent: number): line is Line {
  if (line === undefined || line.text === '' || line.indent <= indent) return false;
  return !MEMBER.test(line.text) && !ITEM.test(line.text);
}

function quotedOf(text: string): string {
  if (text.startsWith("'")) {
    return /^'(?:[^']|'')*'$/u.test(text) ? text.slice(1, -1).replaceAll("''", "'") : fail();
  }
  const value = parseJson(text);
  return typeof value === 'string' ? value : fail();
}

function nullNode(): ReplyNode {
  return bareNode('null');
}

function fail(): never {
  throw new NotYaml();
}
