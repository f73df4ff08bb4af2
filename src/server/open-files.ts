import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { shareOf } from './admission.ts';

/** The files that a worker has open without a call (about 50), and room for idle callers and downloads of media. */
const RESERVE = 200;

type Limits = Pick<Config, 'maxInFlight' | 'maxQueue' | 'workers'>;

/**
 * The files that one worker can have open at its limits: a socket for the caller of each call in flight or in the queue, and,
 * over HTTP/1.1, a connection to the provider for each call in flight.
 */
export function openFilesNeeded({ maxInFlight, maxQueue, workers }: Limits): number {
  return 2 * shareOf(maxInFlight, workers) + shareOf(maxQueue, workers) + RESERVE;
}

/**
 * The limit of open files of this process, which its workers inherit; undefined if it is unknown or unlimited. Node raises the
 * soft limit to the hard one when it starts. `limits`: the text of /proc/self/limits, which only Linux has.
 */
export function openFileLimit(limits: string | undefined = readLimits()): number | undefined {
  const soft = /^Max open files +(\d+) /m.exec(limits ?? '')?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function readLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns a warning for the log if a worker can reach the limit of open files before its limits of calls. */
export function openFilesWarning(config: Limits, limit: number | undefined): string | undefined {
  const needed = openFilesNeeded(config);
  if (limit === undefined || limit >= needed) return undefined;
  const { maxInFlight, maxQueue, workers } = config;
  return (
    `A process can open ${limit} files, but each of ${workers} workers needs up to ${needed} for --max-in-flight ${maxInFlight} and ` +
    `--max-queue ${maxQueue}: further connections fail. Raise the hard limit to ${needed} (ulimit -Hn, LimitNOFILE= in ` +
    'systemd, --ulimit nofile= in Docker), or lower --max-in-flight and --max-queue.'
  );
}
