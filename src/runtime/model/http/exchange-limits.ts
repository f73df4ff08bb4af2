/**
 * How long one request to a provider may take, in milliseconds; 0 means no limit.
 * The deadline of the whole call comes on top, so none of these can make a call longer.
 */
export interface ExchangeLimits {
  /** Until a connection stands (DNS, TCP, TLS). */
  readonly connectMs: number;
  /** Streams: until the first text of the reply. */
  readonly firstTokenMs: number;
  /** Between two pieces of the body. */
  readonly idleMs: number;
  /** From the start to the last byte. */
  readonly requestMs: number;
}

/**
 * What protects a call whose client says nothing of its own under `http`.
 * - connect: a host that does not answer in 10 s will not in 60.
 * - first token: reasoning models think for minutes before they write; 5 minutes is beyond the slowest seen.
 * - idle: a stream that says nothing for 2 minutes (providers send a ping or a token far more often) is dead.
 * - request: 10 minutes, the default of the providers' own libraries.
 */
export const DEFAULT_LIMITS: ExchangeLimits = {
  connectMs: 10_000,
  firstTokenMs: 300_000,
  idleMs: 120_000,
  requestMs: 600_000,
};

/** A reply larger than this is refused: no model writes that much, so it is a fault or an attack. */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/**
 * What large replies may hold together in one process: four of the largest. Each is bounded by itself; this is for many
 * at one time, which a provider that requests chose could send until no memory is left.
 */
export const LARGE_REPLIES_BYTES = 256 * 1024 * 1024;

/** A reply smaller than this is not counted among the large ones: nearly none is larger. */
export const SMALL_REPLY_BYTES = 1024 * 1024;

/** As much of an error body as is read and kept. */
export const MAX_ERROR_BYTES = 64 * 1024;
