import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LogSink } from '../../src/logging/log-sink.ts';

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

/** An empty pipe is no fault. */
function readIfAny(reader: number): string {
  try {
    return readAvailable(reader);
  } catch {
    return '';
  }
}

test('lines of one turn reach the pipe together and in order', async () => {
  const { reader, writer } = openPipe();
  const sink = new LogSink(writer);
  for (let index = 0; index < 100; index += 1) sink.write(`${String(index)}\n`);
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  expect(readAvailable(reader)).toBe(Array.from({ length: 100 }, (_, index) => `${String(index)}\n`).join(''));
  closeSync(reader);
  closeSync(writer);
});

test('a pipe whose reader is gone costs lines and raises nothing', async () => {
  const { reader, writer } = openPipe();
  closeSync(reader);
  const sink = new LogSink(writer);
  sink.write('one\n');
  sink.write('two\n');
  await expect.poll(() => sink.dropped).toBe(2);
  sink.write('three\n');
  expect(sink.dropped).toBe(3);
  sink.flushSync();
  closeSync(writer);
});

test('a reader that stalls costs the lines beyond 8 MiB, and the writer goes on', async () => {
  const { reader, writer } = openPipe();
  const sink = new LogSink(writer);
  const line = `${'x'.repeat(1023)}\n`;
  for (let count = 0; count < 20_000; count += 1) sink.write(line);
  expect(sink.dropped).toBe(20_000 - 8192);
  closeSync(reader);
  // The pipe took a part; the next try fails, and with it what waits behind it.
  await expect.poll(() => sink.dropped).toBeGreaterThan(20_000 - 128);
  closeSync(writer);
});

test('a pipe that nobody reads does not hold the last moment of a process', () => {
  const { reader, writer } = openPipe();
  const sink = new LogSink(writer);
  for (let count = 0; count < 100; count += 1) sink.write(`${'x'.repeat(1023)}\n`);
  const before = performance.now();
  sink.flushSync();
  expect(performance.now() - before).toBeLessThan(2000);
  expect(readAvailable(reader).length).toBeGreaterThan(0);
  closeSync(reader);
  closeSync(writer);
});

test('a reader that is slow still gets every line', async () => {
  const { reader, writer } = openPipe();
  const sink = new LogSink(writer);
  for (let index = 0; index < 1000; index += 1) sink.write(`${String(index).padStart(1023)}\n`);
  let received = '';
  await expect
    .poll(() => {
      received += readIfAny(reader);
      return received.length;
    })
    .toBe(1000 * 1024);
  expect(received.split('\n').map(Number).slice(0, 1000)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
  expect(sink.dropped).toBe(0);
  closeSync(reader);
  closeSync(writer);
});

test('what was in a write when the process ends is not written twice', () => {
  const { reader, writer } = openPipe();
  const sink = new LogSink(writer);
  sink.write('only once\n');
  sink.flushSync();
  sink.flushSync();
  expect(readAvailable(reader)).toBe('only once\n');
  closeSync(reader);
  closeSync(writer);
});
