import type { Logger } from '../logging/logger.ts';
import type { FleetAction } from './fleet.ts';
import type { ClusterMetrics } from './metrics/cluster-metrics.ts';
import type { WorkerHandle } from './worker-handle.ts';

/** What happened to a worker. */
type WorkerAction = Extract<FleetAction, { readonly type: 'died' | 'replacing' | 'replaced' | 'replacement failed' }>;

interface FleetLog {
  readonly logger: Logger;
  readonly metrics: ClusterMetrics;
}

/** Logs and counts what happened to a worker. */
export function logFleetAction(
  action: WorkerAction,
  handle: WorkerHandle | undefined,
  { logger, metrics }: FleetLog,
): void {
  const { number, pid = 0, rssBytes, exited = true } = handle ?? {};
  const { reason } = action;
  if (action.type === 'died') {
    if (pid !== 0) metrics.restarted('crash');
    // A worker that failed is in the log already, and still finishes its requests.
    if (exited) logger.error({ worker: number, workerPid: pid, reason }, 'a worker died');
  } else if (action.type === 'replacing') {
    logger.info({ worker: number, workerPid: pid, reason, rssBytes }, 'a worker is replaced');
  } else if (action.type === 'replaced') metrics.restarted(reason);
  else logger.error({ reason }, 'the replacement did not start; the old worker stays');
}
