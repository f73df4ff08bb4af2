import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { LogSink } from '../../src/logging/create-logger.ts';

/** Ends a test that hangs. */
const UNTIL_DONE = { timeout: 60_000 };

interface Pipe {
  readonly reader: number;
  readonly writer: number;
}

function openPipe(): Pipe {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pipe-'));
  const path = join(folder, 'pipe');
  execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, 'w');
  rmSync(folder, { recursive: true });
  return { reader, writer };
}

function readAvailable(reader: number): string {
  const bytes = Buffer.alloc(256 * 1024);
  return bytes.toString('utf8', 0, readSync(reader, bytes));
}

/** Returns an empty string for an empty pipe. */
function readIfAny(reader: number): string {
  try {
    return readAvailable(reader);
  } catch {
    return '';
  }
}

test('without a reader, lines are counted as dropped and nothing throws', async () => {
  const { reader, writer } = openPipe();
  closeSync(reader);
  const sink = new LogSink(writer);
  sink.write('one\n');
  sink.write('two\n');
  await expect.poll(() => sink.dropped, UNTIL_DONE).toBe(2);
  sink.write('three\n');
  expect(sink.dropped).toBe(3);
  sink.flushSync();
  closeSync(writer);
});

test('lines beyond 8 MiB for a stalled reader are dropped, and the writer continues', async () => {
  const { reader, writer } = openPipe();
  const sink = new LogSink(writer);
  const line = `${'x'.repeat(1023)}\n`;
  for (let count = 0; count < 20_000; count += 1) sink.write(line);
  expect(sink.dropped).toBe(20_000 - 8192);
  closeSync(reader);
  // The pipe accepted a part. The next write fails, and the lines after it are lost.
  await expect.poll(() => sink.dropped, UNTIL_DONE).toBeGreaterThan(20_000 - 128);
  closeSync(writer);
});

test('a full pipe does not prevent the end of a process', () => {
  const { reader, writer } = openPipe();
  const sink = new LogSink(writer);
  for (let count = 0; count < 100; count += 1) sink.write(`${'x'.repeat(1023)}\n`);
  const waits = vi.spyOn(Atomics, 'wait');
  sink.flushSync();
  const times = waits.mock.calls.map(([, , , milliseconds]) => Number(milliseconds));
  waits.mockRestore();
  expect(times.length).toBeGreaterThan(0);
  expect(times.reduce((sum, time) => sum + time, 0)).toBeLessThan(1000);
  expect(readAvailable(reader).length).toBeGreaterThan(0);
  closeSync(reader);
  closeSync(writer);
});

test('a slow reader receives every line', async () => {
  const { reader, writer } = openPipe();
  const sink = new LogSink(writer);
  for (let index = 0; index < 1000; index += 1) sink.write(`${String(index).padStart(1023)}\n`);
  let received = '';
  await expect
    .poll(() => {
      received += readIfAny(reader);
      return received.length;
    }, UNTIL_DONE)
    .toBe(1000 * 1024);
  expect(received.split('\n').map(Number).slice(0, 1000)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
  expect(sink.dropped).toBe(0);
  closeSync(reader);
  closeSync(writer);
});

test('flushing twice does not write a line twice', () => {
  const { reader, writer } = openPipe();
  const sink = new LogSink(writer);
  sink.write('only once\n');
  sink.flushSync();
  sink.flushSync();
  expect(readAvailable(reader)).toBe('only once\n');
  closeSync(reader);
  closeSync(writer);
});
