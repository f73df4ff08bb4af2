import type { AttemptEnd, ClientHealth } from '../base/call-observer.ts';

/** A client cools down after this many attempts in a row that failed. */
const FAILURES_IN_A_ROW = 5;

/** A provider that asks for a longer wait can have sent a wrong number; an attempt after this time costs little. */
const LONGEST_MS = 300_000;

/** `failures`: the last attempts failed. `retry_after`: the provider asked for a wait. */
export type CoolDownReason = 'failures' | 'retry_after';

/** A change of the cool-down of a client, which other processes apply to their own state. */
export type CoolDownChange =
  /** It begins, or another period of it does. */
  | { readonly type: 'begin'; readonly client: string; readonly forMs: number; readonly reason: CoolDownReason }
  /** Its time is over, and an attempt of this process decides about its end. */
  | { readonly type: 'decide'; readonly client: string }
  | { readonly type: 'end'; readonly client: string };

/** A client without an entry is well: its last attempt succeeded, or it has had none. */
interface ClientState {
  failuresInRow: number;
  /** Absent unless the client cools down. */
  until: number | undefined;
  /** The attempt that decides about the end, once the time is over. */
  probe: number | undefined;
}

/**
 * The cool-downs of clients, in one worker. A client cools down after five failed attempts in a row, or if its provider asks for a wait.
 * When the time is over, the next attempt decides: if it succeeds, the cool-down ends; if it fails, another period begins. Attempts
 * that started before the last change decide nothing.
 */
export class CoolDowns implements ClientHealth {
  readonly #changed: (change: CoolDownChange) => void;
  readonly #now: () => number;
  readonly #states = new Map<string, ClientState>();
  /** For each client that has cooled down, the last attempt before the end. */
  readonly #endedAfter = new Map<string, number>();
  #lastId = 0;

  /**
   * Calls `changed` with each change that this process decides. `begun`: the cool-downs that other processes know. `now`: a monotonic
   * clock, in milliseconds.
   */
  constructor(
    changed: (change: CoolDownChange) => void,
    begun: readonly CoolDownChange[] = [],
    now = () => performance.now(),
  ) {
    this.#changed = changed;
    this.#now = now;
    for (const change of begun) this.apply(change);
  }

  coolingUntil(client: string): number | undefined {
    const state = this.#states.get(client);
    if (state?.until === undefined) return undefined;
    return state.probe !== undefined || this.#now() < state.until ? state.until : undefined;
  }

  started(client: string): number {
    this.#lastId += 1;
    const state = this.#states.get(client);
    if (state?.until !== undefined && state.probe === undefined && this.#now() >= state.until) {
      state.probe = this.#lastId;
      this.#changed({ type: 'decide', client });
    }
    return this.#lastId;
  }

  ended(client: string, id: number, end: AttemptEnd): void {
    const state = this.#states.get(client);
    if (state?.until !== undefined) this.#endedWhileCooling(client, { state, isProbe: state.probe === id }, end);
    else if (id > (this.#endedAfter.get(client) ?? 0)) this.#endedAsUsual(client, state, end);
  }

  /** Applies a change that another process decided. */
  apply(change: CoolDownChange): void {
    if (change.type === 'begin') this.#begin(change);
    // Each worker lets an attempt of its own decide: the other worker can die before its attempt ends.
    else if (change.type === 'end') this.#end(change.client);
  }

  #endedAsUsual(client: string, state: ClientState | undefined, end: AttemptEnd): void {
    if (end.outcome === 'ok') this.#states.delete(client);
    if (end.outcome !== 'failed' || end.coolDownMs === 0) return;
    const failuresInRow = (state?.failuresInRow ?? 0) + 1;
    if (state === undefined) this.#states.set(client, { failuresInRow, until: undefined, probe: undefined });
    else state.failuresInRow = failuresInRow;
    if (isWait(end.retryAfterMs) || failuresInRow >= FAILURES_IN_A_ROW) this.#decideBegin(client, end);
  }

  #endedWhileCooling(
    client: string,
    { state, isProbe }: { readonly state: ClientState; readonly isProbe: boolean },
    end: AttemptEnd,
  ): void {
    if (!isProbe) return;
    state.probe = undefined;
    if (end.outcome === 'failed' && end.coolDownMs > 0) this.#decideBegin(client, end);
    else if (end.outcome !== 'undecided') {
      this.#end(client);
      this.#changed({ type: 'end', client });
    }
  }

  #decideBegin(client: string, { retryAfterMs, coolDownMs }: AttemptEnd): void {
    const asked = isWait(retryAfterMs);
    const forMs = asked ? Math.min(retryAfterMs, LONGEST_MS) : coolDownMs;
    const change = { type: 'begin', client, forMs, reason: asked ? 'retry_after' : 'failures' } as const;
    this.#begin(change);
    this.#changed(change);
  }

  #begin({ client, forMs }: Extract<CoolDownChange, { readonly type: 'begin' }>): void {
    this.#states.set(client, { failuresInRow: 0, until: this.#now() + forMs, probe: undefined });
  }

  #end(client: string): void {
    this.#states.delete(client);
    this.#endedAfter.set(client, this.#lastId);
  }
}

function isWait(retryAfterMs: number | undefined): retryAfterMs is number {
  return retryAfterMs !== undefined && retryAfterMs > 0;
}
