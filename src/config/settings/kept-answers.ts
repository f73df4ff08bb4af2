import { setting } from '../setting.ts';
import { MIB, duration, size, yesOrNo } from '../setting-values.ts';

/** The answers that the server keeps for callers that ask again. */
export const KEPT_ANSWERS_SETTINGS = {
  cache: setting({
    flag: '--cache',
    variable: 'SVC_CACHE',
    group: 'Answers',
    help: 'Return kept answers for calls whose client or request asks for a cache',
    parse: yesOrNo,
    default: 'false',
  }),
  /** 0: svc ignores idempotency keys. */
  idempotencyTtlMs: setting({
    flag: '--idempotency-ttl <duration>',
    variable: 'SVC_IDEMPOTENCY_TTL',
    group: 'Answers',
    help: 'How long the answer to a call with an Idempotency-Key is kept; 0 turns the header off',
    parse: duration(0),
    // Longer than the retries of queues and cron jobs.
    default: '24h',
  }),
  /** For all workers together: the primary keeps the answers. */
  cacheMemoryBytes: setting({
    flag: '--cache-memory <size>',
    variable: 'SVC_CACHE_MEMORY',
    group: 'Answers',
    help: 'Memory for kept answers; the least recently used ones make room for new ones',
    parse: size(MIB),
    // Small enough for the smallest container, and room for 60,000 answers of 1 KB.
    default: '64MiB',
  }),
};
