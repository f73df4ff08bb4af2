import { expect, test } from 'vitest';
import { textFiles } from './source-files.ts';

interface LockEntry {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

const LOCK_FILES = textFiles()
  .filter(({ path }) => /(?:^|\/)package-lock\.json$/u.test(path))
  .map(({ path, text }) => ({ path, packages: (JSON.parse(text) as LockFile).packages }));

// npm writes only those it could look up; `npm ci` then refuses the lock file, on this platform or on another one.
test('each lock file has the optional packages of every platform', () => {
  const missing: string[] = [];
  let seen = 0;
  for (const { path: file, packages } of LOCK_FILES) {
    for (const [path, entry] of Object.entries(packages)) {
      for (const name of Object.keys(entry.optionalDependencies ?? {})) {
        seen += 1;
        const nested = `${path}/node_modules/${name}`;
        if (!(`node_modules/${name}` in packages) && !(nested in packages)) missing.push(`${file}: ${name}`);
      }
    }
  }
  expect(missing).toEqual([]);
  expect(seen).toBeGreaterThan(20);
});

test('no lock file names a registry', () => {
  const resolved = LOCK_FILES.flatMap(({ path: file, packages }) =>
    Object.entries(packages).flatMap(([path, entry]) => (entry.resolved === undefined ? [] : [`${file}: ${path}`])),
  );
  expect(resolved).toEqual([]);
  expect(LOCK_FILES.length).toBeGreaterThan(1);
});
