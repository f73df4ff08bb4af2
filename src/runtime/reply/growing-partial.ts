import type { Partial } from './coercion/partial.ts';
import type { Plan } from './coercion/plan.ts';
import type { ReplyType } from './reply-type.ts';
import { CandidateFinder } from './text/candidate-finder.ts';
import { ValueNode } from './text/value-node.ts';
import { ValueReader } from './text/value-reader.ts';

/**
 * The partial value of a reply that the tolerant reader reads piece by piece. It comes from the first value in the reply
 * that shows something, and stays with it: when a later one turns out to be the answer, only the final value says so,
 * because a partial never takes back what an earlier one showed.
 */
export class GrowingPartial {
  readonly #plan: Plan;
  readonly #type: ReplyType;
  readonly #finder = new CandidateFinder(new ValueReader());
  /** Several objects, where a list is wanted. */
  readonly #joined = new ValueNode('list');
  /** The first candidate that the list has not seen. */
  #joinedTo = 0;
  #candidate = 0;
  #settled = false;
  #isJoined = false;

  constructor(plan: Plan, type: ReplyType) {
    this.#plan = plan;
    this.#type = type;
  }

  /** Takes the next piece, and gives the JSON text of the partial. `last`: the one before. */
  read(piece: string, last: string | undefined): string | undefined {
    this.#finder.push(piece);
    const { candidates } = this.#finder;
    if (this.#isJoined) return this.#joinedPartial();
    while (this.#candidate < Math.min(candidates.length, MAX_TRIED)) {
      const node = candidates[this.#candidate]?.value;
      if (node === undefined) return undefined;
      if (this.#settled) return this.#type.isList ? this.#tryJoined(last) : undefined;
      const partial = this.#plan.show(node);
      if (showsSomething(partial)) {
        this.#settled = node.complete;
        return partial.json;
      }
      if (!node.complete || this.#candidate + 1 >= candidates.length) return partial.json;
      this.#candidate += 1;
    }
    return undefined;
  }

  /** A second object may continue the list that the first one began. */
  #tryJoined(last: string | undefined): string | undefined {
    if (this.#finder.candidates.length <= this.#candidate + 1) return undefined;
    const json = this.#joinedPartial();
    if (json === undefined || last === undefined || !json.startsWith(last.slice(0, -1))) return undefined;
    this.#isJoined = true;
    return json;
  }

  #joinedPartial(): string | undefined {
    const { candidates } = this.#finder;
    this.#joinedTo = Math.max(this.#joinedTo, this.#candidate);
    for (; this.#joinedTo < candidates.length; this.#joinedTo += 1) {
      const node = candidates[this.#joinedTo]?.value;
      if (node === undefined || (node.items.length === 0 && !node.complete)) break;
      if (node.items.length > 0) this.#joined.add(node);
    }
    return this.#plan.show(this.#joined).json;
  }
}

/** Where so many values show nothing, the next ones will not either: partials end, and the final value decides. */
const MAX_TRIED = 100;

function showsSomething(partial: Partial): boolean {
  const { json } = partial;
  return json !== undefined && !partial.hollow && json !== 'null' && json !== '[]' && json !== '{}';
}
