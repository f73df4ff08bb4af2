import type { SwapRemoveSet, SwapRemoveMember } from '../../base/swap-remove-set.ts';
import type { Config } from '../../config/config.ts';
import type { Logger } from '../../logging/logger.ts';
import type { WriteRequestLog } from '../../logging/request-log.ts';
import type { FunctionRuntime } from '../../runtime/call/runtime.ts';
import type { Admission } from '../admission.ts';
import type { Authenticator } from './auth.ts';
import type { ByteBudget } from '../../base/byte-budget.ts';
import type { DocsAsset } from './docs/docs-assets.ts';
import type { Degraded } from '../protocol.ts';
import type { CallMetrics } from '../metrics/call-metrics.ts';
import type { StreamLimits } from './sse/stream-limits.ts';
import type { StreamSweep } from './sse/stream-sweep.ts';

/** What the handlers of one process share. */
export interface HttpServices {
  readonly config: HttpConfig;
  readonly logger: Logger;
  readonly logRequest: WriteRequestLog;
  readonly runtime: FunctionRuntime;
  readonly authenticator: Authenticator;
  readonly admission: Admission;
  readonly metrics: CallMetrics;
  /** The metrics of all processes as Prometheus text. */
  metricsText(): Promise<string>;
  readonly health: Health;
  /** Calls and streams that have not been answered completely. */
  readonly active: SwapRemoveSet<Drainable>;
  readonly sweep: StreamSweep;
  readonly streamLimits: StreamLimits;
  /** Room for what the readers of all streams have not taken yet. */
  readonly streamBacklog: ByteBudget;
  readonly programHash: string;
  readonly version: string;
  readonly openapi: OpenApiText;
  readonly docs: ReadonlyMap<string, DocsAsset>;
}

/** A request in flight. */
export interface Drainable extends SwapRemoveMember {
  /** Ends it because the process stops. */
  drain(): void;
}

/** The part of the configuration that HTTP depends on. */
export type HttpConfig = Pick<
  Config,
  | 'basePath'
  | 'corsOrigins'
  | 'exposePrompts'
  | 'features'
  | 'maxBodyBytes'
  | 'partialIntervalMs'
  | 'requestTimeoutMs'
  | 'streamTimeoutMs'
>;

/** What the probes answer; the worker changes it. */
export interface Health {
  /** False while it starts or drains: balancers send nothing new. */
  ready: boolean;
  /** Null when all workers serve, or will soon. */
  degraded: Degraded | null;
}

/** The OpenAPI document as it is sent. */
export interface OpenApiText {
  readonly text: string;
  /** A strong validator, without its quotes. */
  readonly tag: string;
  /** Compressed when it is first asked for. */
  gzip(): Uint8Array;
}
