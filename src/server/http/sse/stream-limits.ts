/** Times of a stream, in milliseconds. */
export interface StreamLimits {
  readonly statusWaitMs: number;
  readonly heartbeatMs: number;
  readonly pauseModelMs: number;
  readonly stalledReaderMs: number;
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
};
