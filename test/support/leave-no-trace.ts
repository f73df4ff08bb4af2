import { afterAll, expect, vi } from 'vitest';

// Runs before every test file, because the next file runs in the same process: a file restores what it changes.
const before = processState();

afterAll(() => {
  expect(processState(), 'the test file did not restore the state of its process').toEqual(before);
});

function processState(): object {
  return {
    directory: process.cwd(),
    environment: { ...process.env },
    exitCode: process.exitCode,
    hasFakeTimers: vi.isFakeTimers(),
    stackTraceLimit: Error.stackTraceLimit,
  };
}
