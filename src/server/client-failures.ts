import type { Attempt } from '../schema/failure.ts';

/** The last failed attempt at a client. It has no message, because providers quote prompts and keys in their messages. */
export interface LastFailure {
  readonly client: string;
  readonly error: Attempt['outcome'];
  /** The status of the provider's answer. */
  readonly upstreamStatus?: number;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** The outcomes of attempts that are not failures of their client. */
const NOT_OF_CLIENT: ReadonlySet<Attempt['outcome']> = new Set(['ok', 'cancelled', 'prompt_error', 'internal_error']);

/** The last failure of each client, from its attempts or from other processes. */
export class ClientFailures {
  readonly #failures = new Map<string, LastFailure>();

  /** Records only clients of the definitions, because clients of requests can have any name. */
  note({ client, outcome, upstreamStatus }: Attempt): void {
    if (NOT_OF_CLIENT.has(outcome)) return;
    const failure = { client, error: outcome, at: Date.now() };
    this.#failures.set(client, upstreamStatus === undefined ? failure : { ...failure, upstreamStatus });
  }

  add(failures: readonly LastFailure[]): void {
    for (const failure of failures) {
      if (failure.at >= (this.#failures.get(failure.client)?.at ?? 0)) this.#failures.set(failure.client, failure);
    }
  }

  get list(): readonly LastFailure[] {
    return [...this.#failures.values()];
  }

  /** Returns the failures since the last call, and forgets them. */
  take(): readonly LastFailure[] {
    if (this.#failures.size === 0) return [];
    const { list } = this;
    this.#failures.clear();
    return list;
  }
}
