// Bundles the page of the playground into dist/assets/playground: one script, one style sheet, and the static files.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { compressFiles } from './compress.mjs';
import { writeCopiedPackages } from './copied-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src/playground');
const target = join(root, 'dist/assets/playground');

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
cpSync(join(source, 'page'), target, { recursive: true });
// Both pages apply the same choice of the user before the first paint.
cpSync(join(root, 'src/server/http/docs/page/theme.js'), join(target, 'theme.js'));

const styles = join(source, 'styles');
const sheets = readdirSync(styles).toSorted();
writeFileSync(
  join(target, 'playground.css'),
  sheets.map((name) => readFileSync(join(styles, name), 'utf8')).join('\n'),
);

const bundle = await rolldown({
  input: { playground: join(source, 'main.tsx') },
  platform: 'browser',
  tsconfig: false,
  transform: { jsx: { runtime: 'automatic', importSource: 'preact' }, target: 'es2023' },
});
const { output } = await bundle.write({
  dir: target,
  format: 'esm',
  entryFileNames: '[name].js',
  minify: true,
  comments: false,
});
await bundle.close();
if (output.length !== 1) throw new Error(`the playground has ${output.length} scripts, but the server serves one`);

compressFiles(target);

writeCopiedPackages(
  target,
  output.flatMap((chunk) => chunk.moduleIds ?? []),
);
