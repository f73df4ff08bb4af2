import type { ReplyNode } from '../text/reply-node.ts';
import { listOf, objectOf, valueOf } from './make-node.ts';

/*
 * TOML and INI: keys with values, below the names of sections. A name can be a path; `[[items]]` begins another member of
 * a list.
 */

interface Section {
  readonly path: readonly string[];
  readonly isItem: boolean;
  readonly members: (readonly [string, ReplyNode])[];
}

const HEADER = /^(\[{1,2})\s*([\p{L}\p{N}_"'.\s-]{1,200}?)\s*\]{1,2}$/u;
const MEMBER = /^("[^"]{1,80}"|[\p{L}\p{N}_$.-]{1,80})\s*[=:]\s*(.*)$/u;
const COMMENT = /^[#;]/u;

/** Returns the values of a text in sections; none if a line is neither a section nor a member. */
export function sectionValues(text: string): readonly ReplyNode[] {
  const body = (FENCE.exec(text)?.[1] ?? text).trim();
  if (!/^\[{1,2}[^\][\n]+\]{1,2}\s*$/mu.test(body)) return [];
  const sections = sectionsOf(body);
  if (sections === undefined || sections.length < 2 || sections.every(({ members }) => members.length === 0)) return [];
  const root = new Table();
  for (const section of sections) if (!root.add(section)) return [];
  const only = root.only;
  return only === undefined ? [root.node] : [only, root.node];
}

const FENCE = /^```(?:toml|ini|conf|cfg|properties)?[^\S\n]*\n([^]*?)^```/imu;

function sectionsOf(body: string): readonly Section[] | undefined {
  let section: Section = { path: [], isItem: false, members: [] };
  const sections = [section];
  const lines = joinedLines(body);
  for (const line of lines) {
    if (line === '' || COMMENT.test(line)) continue;
    const [, brackets, name] = HEADER.exec(line) ?? [];
    const [, key, value = ''] = MEMBER.exec(line) ?? [];
    if (brackets !== undefined && name !== undefined) {
      section = { path: name.split('.').map(unquoted), isItem: brackets.length === 2, members: [] };
      sections.push(section);
    } else if (key === undefined) return undefined;
    else section.members.push([unquoted(key), valueOf(value.replace(/\s+[#;]\s.*$/u, ''))]);
  }
  return sections;
}

/** Joins the lines of a list that spans several. */
function joinedLines(body: string): readonly string[] {
  const lines: string[] = [];
  let open = '';
  for (const raw of body.split('\n')) {
    const line = raw.trim();
    if (open !== '') {
      open += ` ${line}`;
      if (line.startsWith(']')) {
        lines.push(open);
        open = '';
      }
    } else if (/[=:]\s*\[$/u.test(line)) open = line;
    else lines.push(line);
  }
  return open === '' ? lines : [...lines, open];
}

function unquoted(name: string): string {
  return name.trim().replaceAll(/^["']|["']$/gu, '');
}

/** An object or a list of objects in the making. */
class Table {
  readonly #members = new Map<string, Table | ReplyNode>();
  #items: Table[] | undefined = undefined;

  /** Returns false if there is another value in the place. */
  add({ path, isItem, members }: Section): boolean {
    const [key, ...rest] = path;
    if (this.#items !== undefined && (key !== undefined || !isItem)) {
      return this.#items.at(-1)?.add({ path, isItem, members }) === true;
    }
    if (key === undefined) return isItem ? this.#addItem(members) : this.#addAll(members);
    const member = this.#members.get(key) ?? new Table();
    if (!(member instanceof Table)) return false;
    this.#members.set(key, member);
    return member.add({ path: rest, isItem, members });
  }

  #addItem(members: Section['members']): boolean {
    const item = new Table();
    this.#items ??= [];
    this.#items.push(item);
    return item.#addAll(members);
  }

  #addAll(members: Section['members']): boolean {
    for (const [key, value] of members) {
      if (this.#members.has(key)) return false;
      this.#members.set(key, value);
    }
    return true;
  }

  /** The value of the only member, if that is an object or a list. */
  get only(): ReplyNode | undefined {
    const [member, ...others] = this.#members.values();
    return others.length === 0 && member instanceof Table ? member.node : undefined;
  }

  get node(): ReplyNode {
    if (this.#items !== undefined) return listOf(this.#items.map((item) => item.node));
    return objectOf([...this.#members].map(([key, member]) => [key, member instanceof Table ? member.node : member]));
  }
}
