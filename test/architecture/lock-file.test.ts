import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface LockEntry {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockEntry>>;
};

// npm writes only those it could look up; `npm ci` then refuses the lock file, on this platform or on another one.
test('the lock file has the optional packages of every platform', () => {
  const missing: string[] = [];
  let seen = 0;
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const name of Object.keys(entry.optionalDependencies ?? {})) {
      seen += 1;
      const nested = `${path}/node_modules/${name}`;
      if (!(`node_modules/${name}` in lock.packages) && !(nested in lock.packages)) missing.push(name);
    }
  }
  expect(missing).toEqual([]);
  expect(seen).toBeGreaterThan(20);
});

test('the lock file names no registry', () => {
  const resolved = Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined);
  expect(resolved.map(([path]) => path)).toEqual([]);
});
