import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lockFile } from '../../src/server/lock-file.ts';

const NAME = `svc-lock-test-${process.pid}`;
const PATH = join(tmpdir(), NAME);

it('holds a name against others until it is released', () => {
  const release = lockFile(NAME);
  expect(release).toBeDefined();
  expect(lockFile(NAME)).toBeUndefined();
  release?.();
  expect(existsSync(PATH)).toBe(false);
  const again = lockFile(NAME);
  expect(again).toBeDefined();
  again?.();
});

it('takes over what a process left behind that is gone', () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  writeFileSync(PATH, String(pid));
  const release = lockFile(NAME);
  expect(release).toBeDefined();
  release?.();
});
