import { surroundingsOf } from '../candidates/read-candidates.ts';
import { CandidateFinder, type Candidate } from '../candidates/candidate-finder.ts';
import type { ReplyType } from '../reply-type.ts';
import { COMMA, skipSpace } from '../candidates/scan/characters.ts';
import { Scanner } from '../candidates/scan/scanner.ts';
import type { TypedContainer } from './fast-containers.ts';
import { TypedSink } from './fast-sink.ts';
import { CoercedValue } from './outcome.ts';

/**
 * The fast path for a reply with a single list or object that matches its type exactly. Most replies are like that, and
 * this costs a fraction of the tolerant parser's work. The reply arrives in deltas, each of which is read once.
 */
export class FastPath {
  readonly #sink: TypedSink;
  readonly #finder: CandidateFinder<TypedContainer>;
  /** The sink's version when `show` was last called. */
  #shownVersion = 0;

  constructor(type: ReplyType) {
    this.#sink = new TypedSink(type.plan);
    this.#finder = new CandidateFinder(new Scanner(this.#sink));
  }

  /** The whole reply is left to the tolerant parser. */
  get gaveUp(): boolean {
    return this.#finder.gaveUp;
  }

  /** The list or object is complete. */
  get isComplete(): boolean {
    return this.#sink.json !== undefined;
  }

  push(delta: string): void {
    this.#finder.push(delta);
  }

  /** Returns the JSON text of a partial; undefined if nothing has changed or nothing may appear. */
  show(): string | undefined {
    if (this.#sink.version === this.#shownVersion) return undefined;
    this.#shownVersion = this.#sink.version;
    return this.#sink.show();
  }

  /** Returns the value after the last delta; undefined leaves the reply to the tolerant parser. `text`: the whole reply. */
  finish(text: string): CoercedValue | undefined {
    this.#finder.finish();
    const { candidates, fences, gaveUp, thoughtsEnd } = this.#finder;
    const candidate = candidates[0];
    const { json } = this.#sink;
    if (gaveUp || json === undefined || candidate === undefined) return undefined;
    if (fences.some((fence) => fence.number !== candidate.fence)) return undefined;
    const place = placeFlag(candidate, text);
    // An empty value inside a text is rarely the answer.
    if (place !== undefined && json.length === 2) return undefined;
    const { from, to, fence: number } = candidate;
    if (from < thoughtsEnd) return undefined; // A value in a thought is the answer only if there is no other.
    if (text.charCodeAt(skipSpace(text, to)) === COMMA) return undefined; // The value can go on after a bracket too many.
    const fence = number > 0 ? fences[0] : undefined;
    if (place !== undefined && !isAnswer(text, { from, to, fence, after: 0, next: text.length })) return undefined;
    const flags = this.#sink.root?.flags?.all ?? [];
    return new CoercedValue(json, { flags: place === undefined ? flags : [{ flag: place, path: '' }, ...flags] });
  }
}

/** True for a value alone on its lines, which no label sets apart. */
function isAnswer(...value: Parameters<typeof surroundingsOf>): boolean {
  const { place, role } = surroundingsOf(...value);
  return place === 'alone' && (role === undefined || role === 'final');
}

/** Returns the flag for a value in a fence or in prose; undefined if the value is the whole reply. */
function placeFlag(candidate: Candidate<unknown>, text: string): string | undefined {
  if (candidate.fence > 0) return 'markdown';
  const isWhole = candidate.from <= skipSpace(text, 0) && skipSpace(text, candidate.to) === text.length;
  return isWhole ? undefined : 'prose';
}
