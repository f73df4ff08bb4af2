import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogLevel } from '../../src/config/settings.ts';
import { createLogger, type LoggerOptions } from '../../src/logging/create-logger.ts';

const CANARY = 'canary-0123456789-value';

function logInto(lines: string[], logLevel: LogLevel = 'debug', options: LoggerOptions = {}) {
  const write = (line: string) => {
    lines.push(line);
  };
  return createLogger({ logLevel, secrets: [CANARY], env: {} }, { write, terminal: false, ...options });
}

function onlyEntry(lines: readonly string[]): Record<string, unknown> {
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

test('a line is one JSON object with time, level, process, fields and message', () => {
  const lines: string[] = [];
  const before = Date.now();
  logInto(lines, 'info', { fields: { worker: 3 } }).info({ status: 200 }, 'request');
  const { time, ...entry } = onlyEntry(lines);
  expect(entry).toEqual({ level: 'info', pid: process.pid, worker: 3, status: 200, msg: 'request' });
  expect(Date.parse(String(time))).toBeGreaterThanOrEqual(before);
  expect(Date.parse(String(time))).toBeLessThanOrEqual(Date.now());
  expect(lines[0]?.endsWith('}\n')).toBe(true);
});

const LEVELS: ReadonlyArray<readonly [LogLevel, number]> = [
  ['off', 0],
  ['error', 1],
  ['warn', 2],
  ['info', 3],
  ['debug', 4],
  ['trace', 4],
];

test.each(LEVELS)('at level %s, the logger writes %i of one message of each level', (level, count) => {
  const lines: string[] = [];
  const logger = logInto(lines, level);
  logger.error({}, 'e');
  logger.warn({}, 'w');
  logger.info({}, 'i');
  logger.debug({}, 'd');
  expect(lines).toHaveLength(count);
  expect((['error', 'warn', 'info', 'debug'] as const).filter((name) => logger.enabled(name))).toHaveLength(count);
});

test('no line at level debug contains a secret, wherever it appears', () => {
  const lines: string[] = [];
  const logger = logInto(lines);
  const cause = new Error(`inner ${CANARY}`);
  logger.debug({ a: { b: [{ c: CANARY, [CANARY]: 1 }] } }, 'nested, as value and as name');
  logger.debug({}, `in the message: ${CANARY}`);
  logger.error({ err: new Error(`outer ${CANARY}`, { cause }) }, 'in an error, its stack and its cause');
  logger.error(
    { error: Object.assign(new Error('x'), { headers: { authorization: `Bearer ${CANARY}` } }) },
    'property',
  );
  logger.debug({ prompt: JSON.stringify({ content: JSON.stringify({ key: CANARY }) }) }, 'in JSON in JSON');
  logger.warn({ url: `https://h/?x=${CANARY}`, buffer: Buffer.from(CANARY).toString('base64') }, 'encoded');
  expect(lines).toHaveLength(6);
  expect(lines.join('')).not.toContain(CANARY);
  expect(lines.join('')).not.toContain(Buffer.from(CANARY).toString('base64'));
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
});

test('an error is logged with its type and message under both usual names', () => {
  for (const name of ['err', 'error']) {
    const lines: string[] = [];
    logInto(lines).error({ [name]: new TypeError('it broke') }, 'failed');
    expect(onlyEntry(lines)[name]).toMatchObject({ type: 'TypeError', message: 'it broke' });
  }
});

test('fields that cannot be serialised never fail the caller', () => {
  const lines: string[] = [];
  const logger = logInto(lines);
  const cyclic: Record<string, unknown> = { name: 'loop' };
  cyclic['self'] = cyclic;
  logger.info({ cyclic }, 'cyclic');
  logger.info({ big: 12n }, 'bigint');
  logger.info(
    {
      get broken(): string {
        throw new Error('no');
      },
    },
    'getter',
  );
  logger.info({}, 'after');
  expect(lines.at(-1)).toContain('after');
});

test('on a terminal, a line is short and escapes control characters', () => {
  const lines: string[] = [];
  const write = (line: string) => {
    lines.push(line);
  };
  const config = { logLevel: 'info', secrets: [], env: { NO_COLOR: '1' } } as const;
  createLogger(config, { write, terminal: true }).info({ status: 200, text: 'a\u001B[2Jb c' }, 'request');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d info {2}request status=200 text=a\\x1b\[2Jb c\n$/u);
});

test('lines reach the file in order, and flushSync writes those that wait', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
  const descriptor = openSync(join(folder, 'log'), 'w');
  const logger = createLogger({ logLevel: 'info', secrets: [], env: {} }, { descriptor });
  for (let index = 0; index < 500; index += 1) logger.info({ index }, 'x'.repeat(500));
  logger.flushSync();
  const indexes = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
  expect(indexes.map((line) => JSON.parse(line).index)).toEqual(Array.from({ length: 500 }, (_, index) => index));
  expect(logger.dropped).toBe(0);
  closeSync(descriptor);
  rmSync(folder, { recursive: true });
});

test('lines lost to a closed descriptor or a full disk are counted, and no caller fails', async () => {
  const full = openSync('/dev/full', 'w');
  const closed = openSync('/dev/null', 'w');
  closeSync(closed);
  for (const descriptor of [full, closed]) {
    const logger = createLogger({ logLevel: 'info', secrets: [], env: {} }, { descriptor, terminal: false });
    logger.info({}, 'first');
    logger.info({}, 'second');
    await expect.poll(() => logger.dropped, { timeout: 60_000 }).toBe(2);
    logger.info({}, 'third');
    await expect.poll(() => logger.dropped, { timeout: 60_000 }).toBe(3);
  }
  closeSync(full);
});
