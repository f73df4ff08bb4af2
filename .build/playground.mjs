// Bundles the page of the playground into dist/assets/playground: one script, one style sheet, and the static files.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { compressFiles } from './compress.mjs';

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

// The licences of the packages in the script, which svc does not serve.
const files = output.flatMap((chunk) => chunk.moduleIds ?? []);
const folders = new Set(files.filter((file) => file.includes('/node_modules/')).map(packageFolder));
const licences = [...folders].toSorted().map((folder) => {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt']
    .map((each) => join(folder, each))
    .find((each) => existsSync(each));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `${name} ${version}\n\n${readFileSync(file, 'utf8').trim()}\n`;
});
writeFileSync(join(target, 'packages.LICENSE'), licences.join('\n---\n\n'));
// The bill of materials lists the packages of which the script contains a copy.
const modules = realpathSync(join(root, 'node_modules')); // Modules have real paths, and the folder can be a link.
const copied = [...folders].map((folder) => `node_modules${folder.slice(modules.length)}`);
writeFileSync(join(target, 'packages.json'), `${JSON.stringify(copied.toSorted())}\n`);

function packageFolder(file) {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json')) || !isPackage(folder)) folder = dirname(folder);
  return folder;
}

/** Some packages have further manifests in their folders. */
function isPackage(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version !== undefined;
}
