/**
 * Keeps answers by key for callers that ask again, and lets one call per key run at a time. Keys are hex strings of SHA-256, and
 * answers are opaque text. A store can forget an answer before its time; it never returns one after its time.
 */
export interface AnswerStore {
  /**
   * Resolves with the answer that is kept under the key, or with the right and duty to produce it. While another call has that
   * right, waits up to `waitMs` milliseconds; then the claim is `busy`. Rejects if the store fails.
   */
  claim(key: string, waitMs: number): Promise<Claim>;
}

export type Claim =
  | {
      readonly kind: 'kept';
      readonly answer: string;
      readonly ageMs: number;
    }
  | OwnClaim
  | { readonly kind: 'busy' };

/** The right to produce an answer. Its owner calls `keep` or `release`; only the first of these calls counts. */
export interface OwnClaim {
  readonly kind: 'mine';
  /** Keeps the answer for `ttlMs` milliseconds and gives it to all who wait for it. */
  keep(answer: string, ttlMs: number): void;
  /** Keeps no answer: the claim that waits longest becomes the owner. */
  release(): void;
}

/** Returns a claim of which only the first end has an effect. */
export function endsOnce({ keep, release }: Pick<OwnClaim, 'keep' | 'release'>): OwnClaim {
  let ended = false;
  const once = (end: () => void): void => {
    if (ended) return;
    ended = true;
    end();
  };
  return { kind: 'mine', keep: (answer, ttlMs) => once(() => keep(answer, ttlMs)), release: () => once(release) };
}

/** A store whose state the metrics show. */
export interface CountedAnswerStore extends AnswerStore {
  readonly counts: AnswerCounts;
}

export interface AnswerCounts {
  /** The answers in the memory of this process, and their bytes. */
  readonly entries: number;
  readonly bytes: number;
  /** The claims so far that waited for another call. */
  readonly waits: number;
}
