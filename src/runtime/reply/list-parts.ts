import { isJsonObject } from '../../base/json.ts';
import { foldSeparators } from './coerce/folding.ts';
import { isKept, lossOf, type CoercionOutcome } from './coerce/outcome.ts';
import { PARSED_PER_STEP, spend } from './coerce/step-budget.ts';
import { NUMBERED_VERSION, SETS_APART } from './cue-phrases.ts';
import { HAS_WORD, isCorrection, isNothingBetween, optionAt, roleOfLabel } from './cues.ts';
import { severalOf, type ReplyPart, type Standing } from './reply-parts.ts';
import { NO_LOSSES } from './reply-parser.ts';
import type { ReplyType } from './reply-type.ts';
import { listOf } from './structured/make-node.ts';
import type { ReplyNode } from './text/reply-node.ts';

/*
 * A list of objects in several parts: a list or table for each category, with a heading or a sentence before it. Two parts with the
 * same rows can be two versions of one list, and so can parts with words of correction between them.
 */

/** A list in more parts is noise. */
const MAX_PARTS = 50;

/** A part of a list and its rows. */
interface ListPart {
  readonly part: ReplyPart;
  readonly rows: readonly ReplyNode[];
  /** The keys of the rows, folded. */
  readonly keys: ReadonlySet<string>;
  readonly extraKeys: number;
}

/**
 * Returns the rows of all parts as one list, if each part matches as a whole, no words give one of them another role or correct it, and
 * no row is in two parts. `sameKeys`: the rows of all parts have to have the same keys, as those of tables.
 */
export function listInParts(
  standings: readonly Standing[],
  text: string,
  type: ReplyType,
  sameKeys: boolean,
): ReplyPart | undefined {
  if (!type.hasList || type.hasRows || type.takesText) return undefined;
  const likely = standings.filter(({ part }) => part.kind !== 'text' && part.place !== 'sentence' && !isEmpty(part));
  const parts = likely.flatMap((standing) => listPart(standing, text));
  const [first] = parts;
  if (first === undefined || parts.length < 2 || parts.length > MAX_PARTS) return undefined;
  const isOther = (each: Standing) => parts.some(({ part }) => part === each.part) || isUnlike(each, first);
  if (!likely.every((each) => isOther(each)) || !areAlike(parts, sameKeys)) return undefined;
  if (SETS_APART.test(leadOf(text, first.part.from))) return undefined;
  const isNext = ({ part }: ListPart, at: number) =>
    at === 0 || isContinued(parts[at - 1]?.part, part, { text, isSplit: sameKeys });
  if (!parts.every((each, at) => isNext(each, at)) || hasRepeatedRow(parts)) return undefined;
  const node = listOf(parts.flatMap(({ rows }) => rows));
  const outcome = type.plan.coerce(node);
  if (!outcome.ok || outcome.losses !== NO_LOSSES || lossOf(outcome) > 0) return undefined;
  const notation = first.part.outcome.ok
    ? first.part.outcome.flags.filter(({ flag }) => flag === 'structured-text')
    : [];
  const value = outcome.with({ flags: [...notation, ...outcome.flags] });
  const span = { from: first.part.from, to: parts.at(-1)?.part.to ?? 0 };
  return { ...severalOf(span, node, value), joins: parts.map(({ part }) => part.node) };
}

function isEmpty({ node }: ReplyPart): boolean {
  return !node.isScalar && node.items.length === 0;
}

function listPart({ part, value, demotion }: Standing, text: string): ListPart[] {
  const isClean = value !== undefined && value.losses === NO_LOSSES && isKept(value) && value.json.startsWith('[');
  const hasRole = demotion !== '' || (part.role !== undefined && !isGroup(part, text));
  if (!isClean || hasRole || part.inThought || optionAt(text, part.from) >= 0) return [];
  const rows = rowsIn(part.node);
  if (rows.length === 0 || !rows.every(({ kind }) => kind === 'object')) return [];
  return [{ part, rows, keys: keysOf(rows), extraKeys: value.cost.extra }];
}

/** True for an answer whose role comes from a heading above its own: `## Results`, then `### Fruits`. */
function isGroup({ role, from }: ReplyPart, text: string): boolean {
  const lead = leadOf(text, from);
  return role === 'answer' && /^\s*(?:#{2,6}\s|\*\*)/u.test(lead) && roleOfLabel(lead) === undefined;
}

/** Returns the last line with a word before a part, outside of its fence. */
function leadOf(text: string, from: number): string {
  const lines = text.slice(Math.max(0, from - MAX_LEAD), from).replace(/```\w*\s*$/u, '');
  return lines.split('\n').findLast((line) => HAS_WORD.test(line)) ?? '';
}

/** The number of characters before a part in which svc looks for its heading. */
const MAX_LEAD = 400;

/** Returns the members of a list, the members of the only list in an object, or the object as the only row. */
function rowsIn(node: ReplyNode): readonly ReplyNode[] {
  if (node.kind === 'list') return node.items;
  const [only, ...others] = node.items;
  return only?.kind === 'list' && others.length === 0 ? only.items : [node];
}

function keysOf(rows: readonly ReplyNode[]): ReadonlySet<string> {
  spend(rows.length);
  return new Set(rows.flatMap(({ keys }) => keys.map((key) => foldSeparators(key))));
}

/** True for an object or list that does not match and has no key of the rows, such as a summary. */
function isUnlike({ part, value }: Standing, { keys }: ListPart): boolean {
  if (value !== undefined || part.node.isScalar) return false;
  return [part.node, ...rowsIn(part.node)].every((each) => each.keys.every((key) => !keys.has(foldSeparators(key))));
}

function areAlike(parts: readonly ListPart[], sameKeys: boolean): boolean {
  const first = parts[0]?.keys ?? new Set();
  const isSame = parts.every(({ keys }) => keys.size === first.size && [...keys].every((key) => first.has(key)));
  return isSame || (!sameKeys && parts.every(({ extraKeys }) => extraKeys === 0));
}

/** True if the text between two parts makes the second one a continuation, and not another version. */
function isContinued(
  previous: ReplyPart | undefined,
  { from }: ReplyPart,
  { text, isSplit }: { readonly text: string; readonly isSplit: boolean },
): boolean {
  if (previous === undefined || from < previous.to) return false;
  const between = text.slice(previous.to, from);
  if (isNothingBetween(between))
    return isSplit || (/```\s*```/u.test(between) && !/\w/u.test(between.replaceAll(/```\w*/gu, '')));
  if (isCorrection(between) || SETS_APART.test(between)) return false;
  return !between.split('\n').some((line) => NUMBERED_VERSION.test(line) || /^\W*or\b/iu.test(line));
}

// --- rows in two parts -----------------------------------------------------------------------------------------------

type Row = Readonly<Record<string, unknown>>;

/** True if a row of one part has the name of a row of another. */
function hasRepeatedRow(parts: readonly ListPart[]): boolean {
  const lists = parts.map(({ part }) => rowValues(part.outcome));
  const name = nameField(lists);
  const seen = new Set<string>();
  for (const rows of lists) {
    const names = rows.map((row) => (name === undefined ? JSON.stringify(row) : textAt(row, name)));
    if (names.some((each) => seen.has(each))) return true;
    for (const each of names) seen.add(each);
  }
  return false;
}

function rowValues(outcome: CoercionOutcome): readonly Row[] {
  if (!outcome.ok) return [];
  spend(outcome.bare.length / PARSED_PER_STEP);
  const value: unknown = JSON.parse(outcome.bare);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/**
 * Returns the first field whose text is different in every row of a part, for all parts; undefined if there is none. Numbers are names only in the
 * first field.
 */
function nameField(lists: readonly (readonly Row[])[]): string | undefined {
  return Object.keys(lists[0]?.[0] ?? {}).find((field, at) =>
    lists.every((rows) => {
      const names = rows.map((row) => textAt(row, field));
      return (
        names.every((each) => (at === 0 ? HAS_WORD : HAS_LETTER).test(each)) && new Set(names).size === names.length
      );
    }),
  );
}

const HAS_LETTER = /\p{L}/u;

function textAt(row: Row, field: string): string {
  const value = row[field];
  return typeof value === 'string' || typeof value === 'number' ? foldSeparators(String(value)) : '';
}
