import { NO_DEFAULT, setting } from '../setting.ts';
import { MIB, duration, keyword, nonEmptyString, size, yesOrNo } from '../setting-values.ts';

/** What answers contain, and how long the server keeps them for callers that ask again. */
export const ANSWERS_SETTINGS = {
  partialIntervalMs: setting({
    flag: '--partial-interval <duration>',
    variable: 'SVC_PARTIAL_INTERVAL',
    group: 'Answers',
    help: 'Shortest time between two partial results of a stream; 0 sends every change',
    parse: duration(0),
    default: '50ms',
  }),
  onLoss: setting({
    flag: '--on-loss <policy>',
    variable: 'SVC_ON_LOSS',
    group: 'Answers',
    help: 'Accept or refuse values that lack a part of the reply; a request can override this setting',
    parse: keyword('accept', 'refuse'),
    default: 'accept',
  }),
  prices: setting({
    flag: '--prices <file>',
    variable: 'SVC_PRICES',
    group: 'Answers',
    help: 'The file with the prices of models, in YAML or JSON, for the cost of calls',
    parse: nonEmptyString('the path of a file'),
    default: NO_DEFAULT,
  }),
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
