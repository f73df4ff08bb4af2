import type { GaugeSources } from '../../../src/server/metrics/process-metrics.ts';

/** Constant values for the gauges of a worker. */
export const SOURCES: GaugeSources = {
  connections: () => 2,
  waiting: () => 0,
  parseQueue: () => 0,
  droppedLogLines: () => 0,
};
