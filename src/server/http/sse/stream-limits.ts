/** Times of a stream, in milliseconds, and what its process holds for readers that are behind, in bytes. */
export interface StreamLimits {
  readonly statusWaitMs: number;
  readonly heartbeatMs: number;
  readonly pauseModelMs: number;
  readonly stalledReaderMs: number;
  readonly maxBacklogBytes: number;
}

export const STREAM_LIMITS: StreamLimits = {
  /** Until the model's first text, or for this long, a failure still has its true status. */
  statusWaitMs: 5_000,
  /** Proxies and browsers give up on silent connections after 30 to 60 seconds. */
  heartbeatMs: 15_000,
  /**
   * When a reader has taken nothing for this long, the model's reply is no longer read: it would grow in memory for
   * nobody. Shorter stalls cost the stream no time.
   */
  pauseModelMs: 1_000,
  /** A reader that takes nothing for this long is gone or stuck; what it holds is freed. */
  stalledReaderMs: 30_000,
  /**
   * What was written for readers that have not taken it yet, over all streams of a process. Each waits for one partial at
   * most: this is room for thousands of usual ones, and an end to many readers that let large ones wait.
   */
  maxBacklogBytes: 64 * 2 ** 20,
};
