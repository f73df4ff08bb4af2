import type { CallReport } from '../../runtime/call/runtime.ts';

/** How a call ended, for counters. */
export interface CallEnd {
  readonly functionName: string;
  readonly route: FunctionRoute;
  readonly status: number;
  /** The failure's code, or `ok`. */
  readonly outcome: string;
  readonly durationMs: number;
  readonly report?: CallReport | undefined;
}

export type FunctionRoute = 'call' | 'stream' | 'render' | 'parse';

/** Counts what happens in one process. */
export interface CallMetrics {
  callStarted(route: FunctionRoute): void;
  callEnded(end: CallEnd): void;
  /** A stream was cut because its reader took nothing. */
  streamCut(): void;
}
