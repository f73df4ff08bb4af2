import { Coerced } from '../coercion/outcome.ts';
import type { Plan } from '../coercion/plan.ts';
import type { ParseFlag } from '../reply-parser.ts';
import { CandidateFinder, type Candidate } from '../text/candidate-finder.ts';
import { skipSpace } from '../text/characters.ts';
import { StraightReader } from './straight-reader.ts';
import type { TypedContainer } from './typed-container.ts';

/**
 * A reply with one list or object in it that is of the type to the letter, and nothing else that could be the answer:
 * most are like that, and reading them this way costs a fraction of what the tolerant reader needs. Text may arrive in
 * pieces, and each of them is read once.
 */
export class StraightReading {
  readonly #reader: StraightReader;
  readonly #finder: CandidateFinder<TypedContainer>;
  /** What the reader had seen when it was last asked to show something. */
  #shownVersion = 0;

  constructor(plan: Plan) {
    this.#reader = new StraightReader(plan);
    this.#finder = new CandidateFinder(this.#reader);
  }

  /** The reply is not like that: all of it is for the tolerant reader. */
  get gaveUp(): boolean {
    return this.#finder.gaveUp;
  }

  push(piece: string): void {
    this.#finder.push(piece);
  }

  /** The JSON text of a partial; undefined when nothing has changed, or there is nothing to show. */
  show(): string | undefined {
    if (this.#reader.version === this.#shownVersion) return undefined;
    this.#shownVersion = this.#reader.version;
    return this.#reader.show();
  }

  /** The value, when the reply of which all pieces have come is like that. `text`: the whole of it. */
  finish(text: string): Coerced | undefined {
    this.#finder.finish();
    const { candidates, fences, gaveUp } = this.#finder;
    const candidate = candidates[0];
    const { json } = this.#reader;
    if (gaveUp || json === undefined || candidate === undefined) return undefined;
    if (fences.some((fence) => fence.number !== candidate.fence)) return undefined;
    const place = placeFlag(candidate, text);
    const notes = this.#reader.root?.notes?.flags ?? [];
    return new Coerced(json, 0, { notes: place === undefined ? notes : [{ flag: place, path: '' }, ...notes] });
  }
}

/** What the place of the value in the reply says: nothing, when it is the whole reply. */
function placeFlag(candidate: Candidate<unknown>, text: string): ParseFlag['flag'] | undefined {
  if (candidate.fence > 0) return 'markdown';
  const isWhole = candidate.from <= skipSpace(text, 0) && skipSpace(text, candidate.to) === text.length;
  return isWhole ? undefined : 'prose';
}
