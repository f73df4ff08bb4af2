import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The files and packages that a file loads when it runs; type imports load nothing. */
function loadedBy(file: string): readonly string[] {
  const source = readFileSync(file, 'utf8');
  const statements = source.matchAll(
    /^(?:import|export)\s(?!type\s)[^;]*?from '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm,
  );
  return [...statements].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

function closure(entry: string): { readonly files: ReadonlySet<string>; readonly packages: ReadonlySet<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const open = [resolve(ROOT, entry)];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const name of loadedBy(file)) {
      if (name.startsWith('.')) open.push(resolve(dirname(file), name));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  return { files, packages };
}

it.each(['workers/http-worker.ts', 'workers/parse-thread.ts'])('%s loads no compiler', (entry) => {
  const { files, packages } = closure(entry);
  expect(files.size).toBeGreaterThan(20);
  expect([...files].filter((file) => file.includes('/src/compiler/') || file.includes('/src/cli/'))).toEqual([]);
  const compilers = [...packages].filter((name) => name === 'yaml' || name === 'chevrotain' || name === 'commander');
  expect(compilers).toEqual([]);
});

it('finds the modules that a worker loads', () => {
  const { packages } = closure('workers/http-worker.ts');
  expect([...packages]).toEqual(expect.arrayContaining(['uWebSockets.js', 'pino']));
  expect(closure('src/cli/program.ts').packages.has('commander')).toBe(true);
});
