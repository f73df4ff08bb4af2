import { expect, test } from 'vitest';
import { textFiles } from './source-files.ts';

interface LockEntry {
  readonly version?: string;
  readonly engines?: { readonly node?: string };
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

// `npm ci` would warn on Node 20, or refuse with `engine-strict`. The range of `uws-pack` begins at Node 22, although its binary for
// Node 20 passes all tests; therefore its entry has none, and npm keeps the entry as it is.
test('no package that svc needs excludes Node 20', () => {
  const entries = LOCK_FILES.filter(({ path }) => path === 'package-lock.json').flatMap(({ packages }) =>
    Object.entries(packages),
  );
  const ranges = entries.flatMap(([path, { engines }]) =>
    engines?.node === undefined ? [] : [{ path, range: engines.node }],
  );
  expect(ranges.filter(({ range }) => !range.split('||').some(acceptsNode20))).toEqual([]);
  expect(ranges.length).toBeGreaterThan(100);
});

/** Whether a part of a range accepts Node 20.19. */
function acceptsNode20(part: string): boolean {
  const [, operator = '', major = '0', minor = '0'] = /^\s*(\D*?)\s*v?(\d+)(?:\.(\d+))?/u.exec(part) ?? [];
  const isAbove = Number(major) < 20 && operator.startsWith('>');
  return isAbove || operator === '*' || (major === '20' && Number(minor) <= 19);
}
