import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { temporaryFolder } from '../support/running-server.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/svc.js', import.meta.url));

test('--watch writes the types again after each save, and keeps them while the definitions have errors', async () => {
  const cwd = temporaryFolder({ 'svc_src/hi.svc': HI_FUNCTION });
  const file = join(cwd, 'svc_src/hi.svc');
  const env = { PATH: process.env['PATH'] ?? '' };
  const child = spawn(process.execPath, [MAIN, 'types', '--out', 'svc.d.ts', '--watch'], { cwd, env });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const types = (): string => readFileSync(join(cwd, 'svc.d.ts'), 'utf8');
  await expect.poll(() => errors).toContain('press Ctrl+C to stop');
  expect(types()).toContain('readonly Hi: {');
  writeFileSync(file, `${HI_FUNCTION}\nclass {`);
  await expect.poll(() => errors).toContain('svc_src/hi.svc');
  expect(types()).toContain('readonly Hi: {');
  writeFileSync(file, HI_FUNCTION.replace('function Hi', 'function Hello'));
  await expect.poll(types).toContain('readonly Hello: {');
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  expect((await closed)[1]).toBe('SIGTERM');
});
