import type { GaugeSources } from '../../../src/server/metrics/process-metrics.ts';

/** Constant values for the gauges of a worker. */
export const SOURCES: GaugeSources = {
  connections: () => 2,
  waiting: () => 0,
  parseQueue: () => 0,
  parsed: () => ({ replies: 6, steps: 1, time: 2, memory: 3 }),
  upstream: () => ({
    origins: 2,
    counts: [
      { protocol: 'http/1.1', connections: 3, active: 2, waiting: 1 },
      { protocol: 'h2', connections: 1, active: 9, waiting: 0 },
    ],
  }),
  droppedLogLines: () => 0,
  failedClaims: () => 0,
};
