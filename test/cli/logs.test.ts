import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

const LINE = JSON.stringify({
  level: 'info',
  time: '2026-01-02T03:04:05.678Z',
  requestId: 'r1',
  method: 'POST',
  path: '/call/F',
  status: 200,
  ms: 8.3,
  flags: ['markdown'],
  request: '{"a":1}',
  msg: 'request',
});

test('svc logs prints the JSON lines of a file as a terminal shows them, and other lines as they are', async () => {
  writeFileSync('svc.log', `svc: listening on http://127.0.0.1:2024\n${LINE}`);
  expect(await svc('logs', 'svc.log')).toEqual({
    code: 0,
    out: 'svc: listening on http://127.0.0.1:2024\n03:04:05 info  200 repaired /call/F 8.3 ms\n         request: {"a":1}\n',
    error: '',
  });
});

test('svc logs --pretty shows repairs, and no bodies', async () => {
  writeFileSync('svc.log', `${LINE}\n`);
  const { out } = await svc('logs', '--pretty', 'svc.log');
  expect(out.slice(9)).toBe('200 repaired /call/F 8.3 ms\n         repaired: markdown\n');
});
