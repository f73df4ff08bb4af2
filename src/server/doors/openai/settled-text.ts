import { endOfString, endOfValue } from '../../../base/json-text.ts';

/**
 * Turns the partial values of a stream into a text that only grows. A partial replaces the one before, so its JSON text can change in
 * the middle: a null becomes a value, or the model writes a later field first. This class sends only what is certain:
 *
 * - A string can only become longer, and a list too: all its members but the last one are complete.
 * - A model writes one member of an object after another. So a member that has begun, and stays the same while another one changes, is
 *   complete. A null, an empty string or list, and an object of these can still begin.
 * - Numbers and other words are certain when they are complete.
 *
 * A value that is a string is sent bare, any other as JSON.
 */
export class SettledText {
  #sent = '';
  #before: Partial | undefined;

  /** Returns the new certain text of a partial; empty if there is none. */
  partial(json: string): string {
    const root = readPart(json, 0);
    const before = this.#before;
    if (before !== undefined) settle({ json, root }, before);
    this.#before = { json, root };
    return this.#extend(root.kind === 'string' ? bareText(json) : json.slice(0, certainEnd(json, root))) ?? '';
  }

  /** The partials start again. What was sent stays. */
  reset(): void {
    this.#before = undefined;
  }

  /** Returns the rest of the final text; undefined if the text does not begin with what was sent. */
  final(content: string): string | undefined {
    return this.#extend(content);
  }

  #extend(text: string): string | undefined {
    if (!text.startsWith(this.#sent)) return undefined;
    const rest = text.slice(this.#sent.length);
    this.#sent = text;
    return rest;
  }
}

/** The text of a value: a string is bare. */
export function contentOf(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

interface Partial {
  readonly json: string;
  readonly root: Part;
}

/** A value in JSON text: the offsets of its first character and after its last one. */
interface Part {
  readonly kind: 'string' | 'list' | 'object' | 'word';
  readonly from: number;
  readonly to: number;
  readonly members: readonly Member[];
}

interface Member {
  /** As it is written; empty in lists. */
  readonly key: string;
  readonly part: Part;
  /** The member can no longer change. */
  complete: boolean;
}

const NO_MEMBERS: readonly Member[] = [];

/** Reads the value at an offset of JSON text without spaces. */
function readPart(json: string, from: number): Part {
  const first = json.charAt(from);
  if (first === '"') return { kind: 'string', from, to: endOfString(json, from), members: NO_MEMBERS };
  if (first !== '{' && first !== '[') return { kind: 'word', from, to: endOfValue(json, from), members: NO_MEMBERS };
  const kind = first === '{' ? 'object' : 'list';
  const members: Member[] = [];
  let at = from + 1;
  while (at < json.length && json.charAt(at) !== '}' && json.charAt(at) !== ']') {
    const keyEnd = kind === 'object' ? endOfString(json, at) + 1 : at;
    const part = readPart(json, keyEnd);
    members.push({ key: json.slice(at, keyEnd), part, complete: false });
    at = json.charAt(part.to) === ',' ? part.to + 1 : part.to;
  }
  if (kind === 'list') for (const member of members.slice(0, -1)) member.complete = true;
  return { kind, from, to: at + 1, members };
}

/** Finds the members that are complete, by comparison with the partial before. */
function settle(now: Partial, before: Partial): void {
  const { json, root } = now;
  if (root.kind !== before.root.kind) return;
  const old = new Map(before.root.members.map((member, index) => [member.key || index, member]));
  const isSame = ({ part }: Member, was: Member | undefined): boolean =>
    was !== undefined && json.slice(part.from, part.to) === before.json.slice(was.part.from, was.part.to);
  const pairs = root.members.map((member, index) => ({ member, was: old.get(member.key || index) }));
  const changes = root.kind === 'object' && pairs.some(({ member, was }) => !isSame(member, was));
  for (const { member, was } of pairs) {
    if (was === undefined) continue;
    if (was.complete || (changes && hasBegun(json, member.part) && isSame(member, was))) member.complete = true;
    if (!member.complete) settle({ json, root: member.part }, { json: before.json, root: was.part });
  }
}

function hasBegun(json: string, { kind, from, to, members }: Part): boolean {
  if (kind === 'word') return json.slice(from, to) !== 'null';
  if (kind === 'object') return members.some(({ part }) => hasBegun(json, part));
  return to - from > '[]'.length;
}

/** Returns the end of the certain part of a value; its beginning if nothing is certain. */
function certainEnd(json: string, part: Part): number {
  if (part.kind === 'word') return part.from;
  if (part.kind === 'string') return part.to - part.from > '""'.length ? textEnd(json, part.to - 1) : part.from;
  let end = part.from;
  for (const member of part.members) {
    if (!member.complete) {
      const inner = certainEnd(json, member.part);
      return inner === member.part.from ? end : inner;
    }
    end = member.part.to;
  }
  return end;
}

/** A character outside the basic plane has two halves, which can arrive one after the other. */
const FIRST_HALF = /(?:\\u[Dd][89ABab][\dA-Fa-f]{2}|[\uD800-\uDBFF])$/;

/** Returns the end of a text without half a character. */
function textEnd(json: string, end: number): number {
  const half = FIRST_HALF.exec(json.slice(Math.max(0, end - '\\ud83d'.length), end));
  return half === null ? end : end - half[0].length;
}

function bareText(json: string): string {
  const text = contentOf(json);
  return text.slice(0, textEnd(text, text.length));
}
