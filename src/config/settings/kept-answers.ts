import { setting } from '../setting.ts';
import { size } from '../setting-values.ts';

const MIB = 2 ** 20;

/** The answers that the server keeps for callers that ask again. */
export const KEPT_ANSWERS_SETTINGS = {
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
