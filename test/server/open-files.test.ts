import { expect, it } from 'vitest';
import { openFileLimit, openFilesNeeded, openFilesWarning } from '../../src/server/open-files.ts';

const LIMITS = { maxInFlight: 2048, maxQueue: 2048, workers: 2 };

it('a worker needs two sockets for each call in flight, one for each in the queue, and a reserve', () => {
  expect(openFilesNeeded(LIMITS)).toBe(2 * 1024 + 1024 + 200);
  expect(openFilesNeeded({ ...LIMITS, maxQueue: 0 })).toBe(2 * 1024 + 200);
  expect(openFilesNeeded({ ...LIMITS, workers: 4 })).toBe(2 * 512 + 512 + 200);
});

it('a limit that is too low is reported with the number needed', () => {
  expect(openFilesWarning(LIMITS, 3271)).toBe(
    'A process can open 3271 files, but each of 2 workers needs up to 3272 for --max-in-flight 2048 and --max-queue 2048: ' +
      'further connections fail. Raise the hard limit to 3272 (ulimit -Hn, LimitNOFILE= in systemd, --ulimit nofile= in ' +
      'Docker), or lower --max-in-flight and --max-queue.',
  );
});

it('a limit that is high enough, unlimited or unknown is not reported', () => {
  expect(openFilesWarning(LIMITS, 3272)).toBeUndefined();
  expect(openFilesWarning(LIMITS, undefined)).toBeUndefined();
});

/** A part of `/proc/self/limits`. */
function line(soft: string): string {
  return `Limit                     Soft Limit           Hard Limit           Units\nMax processes             7                    8                    processes\nMax open files            ${soft.padEnd(20)} 1048576              files\n`;
}

it('the limit is the soft one of the process', () => {
  expect(openFileLimit(line('1024'))).toBe(1024);
  expect(openFileLimit(line('unlimited'))).toBeUndefined();
  expect(openFileLimit('')).toBeUndefined();
});
