/** Learns from the attempts at each client which clients strategies pass over for a while. Knows clients by their names. */
export interface ClientHealth {
  /**
   * Returns the end of a client's cool-down, on the clock of `performance.now()`; undefined if strategies ask the client as usual. The
   * end is in the past while one attempt decides whether the cool-down is over.
   */
  coolingUntil(client: string): number | undefined;
  /** An attempt starts. Returns its id. */
  started(client: string): number;
  /** Called once for each attempt that started. */
  ended(client: string, id: number, end: AttemptEnd): void;
}

/** The end of an attempt: how it affects the cool-down of its client. */
export interface AttemptEnd {
  /** `ok`: the provider replied. `undecided`: the attempt does not show whether the provider works. */
  readonly outcome: 'ok' | 'failed' | 'undecided';
  /** The wait that the provider asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The client's own time of a cool-down, in milliseconds; 0: it has none. */
  readonly coolDownMs: number;
}
