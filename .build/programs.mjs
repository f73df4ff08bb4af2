// Bundles the programs that svc consists of (the command, the worker process, the threads) into dist/bin: a process
// that loads a dozen files starts in half the time of one that loads three hundred. See docs/adr/0009-programs-are-bundled.md.
// Their common code is in files that they share; packages stay where npm installed them.
import { rmSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'dist/bin');

const bundle = await rolldown({
  input: {
    svc: join(root, 'src/cli/main.ts'),
    'http-worker': join(root, 'workers/http-worker.ts'),
    'parse-thread': join(root, 'workers/parse-thread.ts'),
    'compile-thread': join(root, 'workers/compile-thread.ts'),
  },
  platform: 'node',
  tsconfig: false,
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
});
rmSync(target, { recursive: true, force: true });
// One folder for all of them: they find each other, and the assets, relative to their own file.
await bundle.write({
  dir: target,
  format: 'esm',
  chunkFileNames: '[name].js',
  sourcemap: true,
  sourcemapExcludeSources: true,
  // V8 keeps the source of every loaded file, with two bytes per character unless all are Latin-1.
  comments: false,
  charset: 'ascii',
});
await bundle.close();
