import type { GaugeSources } from '../../../src/server/metrics/process-metrics.ts';

/** What the gauges of a worker show. */
export const SOURCES: GaugeSources = {
  connections: () => 2,
  waiting: () => 0,
  parseQueue: () => 0,
  droppedLogLines: () => 0,
};
