import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { SwapRemoveSet } from '../../base/swap-remove-set.ts';
import type { Config } from '../../config/config.ts';
import type { Logger } from '../../logging/logger.ts';
import { createRequestLog } from '../../logging/request-log.ts';
import type { FunctionRuntime } from '../../runtime/call/runtime.ts';
import type { Program } from '../../schema/program.ts';
import type { CallMetrics } from '../metrics/call-metrics.ts';
import { Admission, shareOf } from '../admission.ts';
import { Authenticator } from './auth.ts';
import { ByteBudget } from '../../base/byte-budget.ts';
import { loadDocsAssets } from './docs/docs-assets.ts';
import type { HttpServices, OpenApiText } from './http-services.ts';
import { STREAM_LIMITS, type StreamLimits } from './sse/stream-limits.ts';
import { StreamSweep } from './sse/stream-sweep.ts';

/** What differs between a worker and a test. */
export interface ServiceParts {
  readonly logger: Logger;
  readonly runtime: FunctionRuntime;
  readonly program: Pick<Program, 'hash' | 'openapi'>;
  readonly metrics: CallMetrics;
  readonly metricsText: () => Promise<string>;
  readonly version: string;
  /** Shorter times, for tests. */
  readonly streamLimits?: StreamLimits;
}

/** Everything that the handlers of one process share, not yet ready for balancers. */
export function createServices(config: Config, parts: ServiceParts): HttpServices {
  const streamLimits = parts.streamLimits ?? STREAM_LIMITS;
  return {
    config,
    logger: parts.logger,
    logRequest: createRequestLog(parts.logger, config),
    runtime: parts.runtime,
    authenticator: new Authenticator(config.apiKey),
    admission: new Admission(shareOf(config.maxInFlight, config.workers), shareOf(config.maxQueue, config.workers)),
    metrics: parts.metrics,
    metricsText: parts.metricsText,
    health: { ready: false, degraded: null },
    active: new SwapRemoveSet(),
    sweep: new StreamSweep(),
    streamLimits,
    streamBacklog: new ByteBudget(streamLimits.maxBacklogBytes),
    programHash: parts.program.hash,
    version: parts.version,
    openapi: openapiText(parts.program),
    docs: loadDocsAssets(),
  };
}

function openapiText({ openapi }: Pick<Program, 'openapi'>): OpenApiText {
  const text = JSON.stringify(openapi);
  let compressed: Uint8Array | undefined;
  return {
    text,
    tag: createHash('sha256').update(text).digest('base64url').slice(0, 22),
    gzip: () => (compressed ??= gzipSync(text)),
  };
}
