import { workerMemoryShare, workersThatFit } from '../container-limits.ts';
import { NO_DEFAULT, setting, zeroOr } from '../setting.ts';
import { MIB, duration, size, wholeNumber } from '../setting-values.ts';
import { storeAddress } from '../store-address.ts';

/** The worker processes, their drain, and what they share with other machines. */
export const PROCESSES_SETTINGS = {
  workers: setting({
    flag: '--workers <n>',
    variable: 'SVC_WORKERS',
    group: 'Processes',
    help: 'Number of worker processes',
    parse: wholeNumber(1, 256),
    default: {
      text: 'one per core if memory allows, at least 2',
      // With a single worker, no one would serve while it is replaced.
      compute: ({ limits }) => Math.max(2, Math.min(limits.cores, workersThatFit(limits))),
    },
  }),
  maxWorkerMemoryBytes: setting({
    flag: '--max-worker-memory <size>',
    variable: 'SVC_MAX_WORKER_MEMORY',
    group: 'Processes',
    help: 'Resident memory above which a worker is replaced; 0 means never',
    parse: zeroOr(size(32 * MIB)),
    default: {
      text: "a share of the container's memory limit, 0 without one",
      compute: ({ limits, workers }) => workerMemoryShare(limits, workers),
    },
  }),
  maxWorkerAgeMs: setting({
    flag: '--max-worker-age <duration>',
    variable: 'SVC_MAX_WORKER_AGE',
    group: 'Processes',
    help: 'Age above which a worker is replaced; 0 means never',
    parse: zeroOr(duration(10_000)),
    default: '0',
  }),
  drainTimeoutMs: setting({
    flag: '--drain-timeout <duration>',
    variable: 'SVC_DRAIN_TIMEOUT',
    group: 'Processes',
    help: 'How long calls and streams can continue after SIGTERM',
    parse: duration(0),
    default: '60s',
  }),
  drainDelayMs: setting({
    flag: '--drain-delay <duration>',
    variable: 'SVC_DRAIN_DELAY',
    group: 'Processes',
    help: 'How long to accept connections after readiness fails; 5s suits Kubernetes',
    parse: duration(0),
    default: '0',
  }),
  /** Absent: the machine shares nothing with others. */
  store: setting({
    flag: '--store <url>',
    variable: 'SVC_STORE',
    group: 'Processes',
    help: 'Redis or Valkey that several machines share; pass a URL with a password as SVC_STORE',
    secret: true,
    parse: storeAddress,
    default: NO_DEFAULT,
  }),
};
