import type { Profiler } from 'node:inspector';

/** Characters of source that count as one step: about a line. */
const LINE = 40;

/** The lines of the scripts that V8 executed, each as often as it did. */
export function executedLines(scripts: readonly Profiler.ScriptCoverage[]): number {
  const functions = scripts.flatMap((script) => script.functions);
  return functions.reduce((sum, { ranges }) => sum + executedCharacters(ranges), 0) / LINE;
}

/** V8 lists a nested block only where its count differs from that of the block around it; outer blocks come first. */
function executedCharacters(ranges: readonly Profiler.CoverageRange[]): number {
  let sum = 0;
  const around: Profiler.CoverageRange[] = [];
  for (const range of ranges) {
    while ((around.at(-1)?.endOffset ?? Infinity) <= range.startOffset) around.pop();
    sum += (range.count - (around.at(-1)?.count ?? 0)) * (range.endOffset - range.startOffset);
    around.push(range);
  }
  return sum;
}

// --- built-in functions ---------------------------------------------------------------------------------------------

type Native = (this: unknown, ...args: unknown[]) => unknown;

/** The units that a call processed. `start`: `lastIndex` of a regular expression before the call. */
type Cost = (subject: unknown, args: readonly unknown[], result: unknown, start: number) => number;

const length = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array ? value.length : 1;
const ofSubject: Cost = (subject) => length(subject);
const ofResult: Cost = (_, __, result) => length(result);
/** A buffer on existing memory copies nothing. */
const ofCopy: Cost = (_, [source], result) => (source instanceof ArrayBuffer ? 1 : length(result));
const ofArgument: Cost = (_, [argument]) => length(argument);
const ofTrim: Cost = (subject, _, result) => 1 + length(subject) - length(result);
const ofSearch: Cost = (subject, [, from], result) =>
  Math.max(1, (typeof result === 'number' && result >= 0 ? result : length(subject)) - Number(from ?? 0));
const ofSearchBack: Cost = (subject, [, from], result) =>
  1 + Math.min(length(subject), Number(from ?? Infinity)) - Math.max(0, Number(result));
const ofMatch: Cost = (expression, [input], result, start) => {
  const matched = result as RegExpExecArray | null;
  if (matched !== null) return 1 + matched.index + matched[0].length - start;
  return (expression as RegExp).sticky ? 1 : 1 + length(input) - start;
};

const COSTS: readonly (readonly [object, Cost, readonly string[]])[] = [
  [String.prototype, ofSearch, ['indexOf']],
  [String.prototype, ofTrim, ['trim', 'trimStart', 'trimEnd']],
  [String.prototype, ofResult, ['concat', 'padEnd', 'padStart', 'repeat']],
  [
    String.prototype,
    ofSubject,
    ['includes', 'match', 'normalize', 'replace', 'replaceAll', 'search', 'split', 'toLowerCase', 'toUpperCase'],
  ],
  [String.prototype, ofSearchBack, ['lastIndexOf']],
  [RegExp.prototype, ofMatch, ['exec']],
  [Array.prototype, ofSearch, ['indexOf']],
  [Array.prototype, ofResult, ['concat', 'join', 'slice']],
  [Array.prototype, ofSubject, ['fill', 'flat', 'includes', 'reverse', 'shift', 'sort', 'toSorted', 'unshift']],
  [Array, ofResult, ['from']],
  [Buffer, ofCopy, ['concat', 'from']],
  [Buffer.prototype, ofResult, ['toString']],
  [Buffer.prototype, ofSearch, ['indexOf']],
  [TextDecoder.prototype, ofResult, ['decode']],
  [Object, ofResult, ['entries', 'keys', 'values']],
  [Object, ofArgument, ['fromEntries']],
  [JSON, ofArgument, ['parse']],
  [JSON, ofResult, ['stringify']],
];

/** Charges every call of a built-in function whose cost grows with its input. Returns a function that restores the originals. */
export function chargeNatives(charge: (units: number) => void): () => void {
  const undo: (() => void)[] = [];
  for (const [owner, cost, names] of COSTS) {
    for (const name of names) {
      const descriptor = Object.getOwnPropertyDescriptor(owner, name);
      if (descriptor === undefined) continue;
      const native = descriptor.value as Native;
      const charged: Native =
        owner === RegExp.prototype
          ? function (...args) {
              const expression = this as RegExp;
              const start = expression.global || expression.sticky ? expression.lastIndex : 0;
              const result = native.apply(this, args);
              charge(cost(this, args, result, start));
              return result;
            }
          : function (...args) {
              const result = native.apply(this, args);
              charge(cost(this, args, result, 0));
              return result;
            };
      Object.defineProperty(owner, name, { ...descriptor, value: charged });
      undo.push(() => Object.defineProperty(owner, name, descriptor));
    }
  }
  return () => undo.forEach((step) => step());
}
