import { RESTART } from './cue-phrases.ts';
import { beginningOf } from './frames/pieces.ts';
import { CandidateFinder, type Candidate, type FenceBody } from './text/candidate-finder.ts';
import { COMMA, skipSpace } from './text/characters.ts';
import { keyAhead, LOOK_AHEAD } from './text/look-ahead.ts';
import { REPAIR, type ReplyNode } from './text/reply-node.ts';
import { Scanner } from './text/scanner.ts';
import { TreeSink } from './text/tree-sink.ts';

/** The objects, lists and fences in a reply, in the order of their starts. */
export interface FoundValues {
  readonly candidates: readonly Candidate<ReplyNode>[];
  /** The fence with the number n is at n - 1. */
  readonly fences: readonly FenceBody[];
  /** A value that breaks off, and contains the values after it. */
  readonly broken: Candidate<ReplyNode> | undefined;
  readonly thoughtsEnd: number;
  readonly openThought: number;
  readonly gaveUp: boolean;
}

/** Reads a whole reply. `readThoughts`: look inside thoughts as well. */
export function findValues(text: string, readThoughts: boolean): FoundValues {
  const { candidates: read, fences, thoughtsEnd, openThought, gaveUp } = find(text, readThoughts);
  const candidates = withoutExtraBracket(text, read);
  const restarts = gaveUp ? [] : candidates.map((candidate) => restartIn(text, candidate));
  const at = restarts.findLastIndex((start) => start >= 0);
  const broken = candidates[at];
  const restart = restarts[at];
  if (broken === undefined || restart === undefined) {
    return { candidates, fences, broken, thoughtsEnd, openThought, gaveUp };
  }
  const rest = find(text.slice(restart), readThoughts);
  const before = fences.slice(0, broken.fence);
  const shift = ({ from, to }: { from: number; to: number }) => ({ from: from + restart, to: to + restart });
  return {
    candidates: [
      ...candidates.slice(0, at + 1),
      ...rest.candidates.map((each) => ({ ...each, ...shift(each), fence: each.fence && each.fence + before.length })),
    ],
    fences: [...before, ...rest.fences.map((each) => ({ ...shift(each), number: each.number + before.length }))],
    broken,
    thoughtsEnd,
    openThought,
    gaveUp: gaveUp || rest.gaveUp,
  };
}

function find(text: string, readThoughts: boolean): CandidateFinder<ReplyNode> {
  const finder = new CandidateFinder(new Scanner(new TreeSink()), readThoughts);
  finder.push(text);
  finder.finish();
  return finder;
}

/**
 * Reads a value again without a closing bracket that is one too many: `{"a": {"b": 1}}, "c": 2}`. It ends the value too early,
 * so a comma and another member follow, and then the bracket that ends it.
 */
function withoutExtraBracket(
  text: string,
  candidates: readonly Candidate<ReplyNode>[],
): readonly Candidate<ReplyNode>[] {
  const at = candidates.findIndex((candidate) => endsEarly(text, candidate));
  const early = candidates[at];
  if (early === undefined) return candidates;
  const scanner = new Scanner(new TreeSink());
  const source = text.slice(early.from, early.to - 1) + text.slice(early.to);
  const to = early.from + scanner.read(source, 0, true) + 1;
  if (scanner.root?.complete !== true || to <= early.to) return candidates;
  scanner.root.repairs |= REPAIR.brackets;
  const whole = { ...early, value: scanner.root, to };
  return [...candidates.slice(0, at), whole, ...candidates.slice(at + 1).filter(({ from }) => from >= to)];
}

function endsEarly(text: string, { value, from, to }: Candidate<ReplyNode>): boolean {
  if (to === Infinity || !value.complete || !CLOSERS.test(text.slice(Math.max(from, to - 2), to))) return false;
  const comma = skipSpace(text, to);
  if (text.charCodeAt(comma) !== COMMA) return false;
  const isKey = keyAhead(text, comma + 1, true) === 'yes';
  return value.kind === 'object' ? isKey : !isKey && ITEM.test(text.slice(comma + 1, comma + 1 + LOOK_AHEAD));
}

const CLOSERS = /^[\]}]{2}$/u;
const ITEM = /^\s*["'[{\d-]/u;

/**
 * Returns the start of a value inside another one that broke off and goes on: the value after a sentence that announces it, the
 * value after words that begins as the other one does, or the value in the last fence that opens after the value's own fence
 * has closed. -1 if there is none.
 */
function restartIn(text: string, { from, to, fence }: Candidate<ReplyNode>): number {
  const source = text.slice(from, to);
  const announced = RESTART.exec(source);
  if (announced !== null) return from + announced.index + announced[0].length - 1;
  const again = repeatedStart(source);
  if (again >= 0) return from + again;
  if (fence === 0) return -1;
  const end = /\n[ \t]*```[ \t]*\r?\n/u.exec(source);
  if (end === null) return -1;
  const after = end.index + end[0].length - 1;
  const openings = [...source.slice(after).matchAll(/\n[ \t]*```[ \t]*\w*[ \t]*\r?\n\s*[{[]/gu)];
  const last = openings.at(-1);
  return last === undefined ? -1 : from + after + last.index + 1;
}

/** Returns the start of the first value after words that begins with all of the text before the words; -1 if there is none. */
function repeatedStart(source: string): number {
  let tries = 0;
  for (const match of source.matchAll(AFTER_WORDS)) {
    tries += 1;
    if (tries > MAX_TRIES) return -1;
    const start = match.index + match[0].length;
    const head = beginningOf(source.slice(0, match.index));
    const tail = source.slice(start + (match[1] ?? '').length, start + 2 * MAX_HEAD);
    if (head.length > 1 && head.length < MAX_HEAD && tail.replaceAll(/\s+/gu, '').startsWith(head)) return start;
  }
  return -1;
}

/** The words of a paragraph, and the fence after them. */
const AFTER_WORDS =
  /\n[ \t\r]{0,40}\n\s{0,40}(?:[^\n]{1,160}\n\s{0,20}){1,3}?(?=(```[\w-]{0,20}[ \t]*\r?\n\s{0,40})?[[{])/gu;
const MAX_TRIES = 8;
const MAX_HEAD = 10_000;
