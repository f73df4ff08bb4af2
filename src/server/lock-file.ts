import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A file that names the process which holds a port; undefined when that process is alive and another one. Of two processes
 * that find the file of a dead one at the same moment, both may take it: where svc runs as a server, on Linux, no file is used.
 */
export function lockFile(name: string): (() => void) | undefined {
  const path = join(tmpdir(), name);
  if (!write(path)) {
    if (holderIsAlive(path)) return undefined;
    rmSync(path, { force: true });
    if (!write(path)) return undefined;
  }
  return () => rmSync(path, { force: true });
}

function write(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function holderIsAlive(path: string): boolean {
  try {
    process.kill(Number(readFileSync(path, 'utf8')), 0);
    return true;
  } catch (error) {
    // It is alive, but of another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
