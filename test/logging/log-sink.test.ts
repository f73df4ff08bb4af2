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
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, 'w');
  rmSync(folder, { recursive: true });
  return { reader, writer };
}

function readAvailable(reader: number): string {
  const bytes = Buffer.alloc(256 * 1024);
  return bytes.toString('utf8', 0, readSync(reader, bytes));
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
  // The write that waited in the kernel now fails, and with it what was waiting behind it.
  await expect.poll(() => sink.dropped).toBe(20_000);
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
