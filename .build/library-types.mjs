// Copies the declarations that users of the library need to dist/lib, as declarations of CommonJS modules: programs of both
// kinds can import those, also with TypeScript 5. Run it after tsc.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** A path in an import, without its extension. `from './svc.js'` in an example is not one. */
const IMPORT = /(?<=(?:from |import\()['"])(\.[^'"]*)\.ts(?=['"])/gu;

const open = ['index'];
for (const path of open) {
  const text = readFileSync(join(dist, 'src', `${path}.d.ts`), 'utf8');
  for (const [, relative] of text.matchAll(IMPORT)) {
    const found = join(dirname(path), relative);
    if (!open.includes(found)) open.push(found);
  }
  const target = join(dist, 'lib', `${path}.d.cts`);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text.replaceAll(IMPORT, '$1.cjs'));
}
writeFileSync(join(dist, 'lib/index.d.mts'), "export * from './index.cjs';\n");
