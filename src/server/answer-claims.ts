import { messageOf } from '../base/invariant.ts';
import type { AnswerCounts, Claim, CountedAnswerStore, OwnClaim } from '../policy/answer-store.ts';
import type { ClaimedAnswer, FromWorker } from './protocol.ts';
import type { WorkerHandle } from './worker-handle.ts';

type Worker = Pick<WorkerHandle, 'exited' | 'send'>;

const NO_ANSWERS: AnswerCounts = { entries: 0, bytes: 0, waits: 0 };

/** The primary's side of kept answers: claims them for workers, and releases the claims of workers that exit. */
export class AnswerClaims {
  readonly #open: () => Promise<CountedAnswerStore>;
  #opening: Promise<CountedAnswerStore> | undefined;
  #store: CountedAnswerStore | undefined;
  /** The claims that workers own, by the id of their message. */
  readonly #owned = new Map<Worker, Map<number, OwnClaim>>();

  /** `open` creates the store. It is called at the first claim, so that a server without claims loads no code for them. */
  constructor(open: () => Promise<CountedAnswerStore>) {
    this.#open = open;
  }

  /** The state of the store. */
  get counts(): AnswerCounts {
    return this.#store?.counts ?? NO_ANSWERS;
  }

  async claim(worker: Worker, { id, key, waitMs }: FromWorker<'claim-answer'>): Promise<void> {
    let claimed: ClaimedAnswer;
    try {
      claimed = this.#take(worker, id, await (await this.#opened()).claim(key, waitMs));
    } catch (error) {
      claimed = { kind: 'failed', reason: messageOf(error) };
    }
    worker.send({ type: 'claimed-answer', id, claimed });
  }

  keep(worker: Worker, { id, answer, ttlMs }: FromWorker<'keep-answer'>): void {
    this.#end(worker, id)?.keep(answer, ttlMs);
  }

  release(worker: Worker, { id }: FromWorker<'release-answer'>): void {
    this.#end(worker, id)?.release();
  }

  /** Releases the claims of a worker that has exited. */
  exited(worker: Worker): void {
    const owned = this.#owned.get(worker);
    this.#owned.delete(worker);
    for (const claim of owned?.values() ?? []) claim.release();
  }

  async #opened(): Promise<CountedAnswerStore> {
    this.#opening ??= this.#open();
    try {
      this.#store = await this.#opening;
      return this.#store;
    } catch (error) {
      // The next claim tries again.
      this.#opening = undefined;
      throw error;
    }
  }

  #take(worker: Worker, id: number, claim: Claim): ClaimedAnswer {
    if (claim.kind !== 'mine') return claim;
    if (worker.exited) {
      claim.release();
      return { kind: 'busy' };
    }
    const owned = this.#owned.get(worker) ?? new Map<number, OwnClaim>();
    this.#owned.set(worker, owned.set(id, claim));
    return { kind: 'mine' };
  }

  #end(worker: Worker, id: number): OwnClaim | undefined {
    const owned = this.#owned.get(worker);
    const claim = owned?.get(id);
    owned?.delete(id);
    return claim;
  }
}
