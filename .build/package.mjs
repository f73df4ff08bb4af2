// Assembles the package that users install in dist/package, with a manifest of its own: `npm pack ./dist/package` packs it.
// The manifest names no dependencies but the binaries, because the programs contain the others
// (docs/adr/0022-an-installation-is-one-package.md and docs/adr/0035-binaries-are-optional-packages.md).
// Run it after the other steps of a build.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'dist/package');

/** Folders and files, with the same path in the package. A pattern selects files of a folder. The last five are targets of links in the pages. */
const CONTENTS = [
  ['dist/assets'],
  ['dist/bin'],
  ['dist/lib'],
  ['dist/packages'],
  ['templates'],
  ['svc_src'],
  ['docs'],
  ['deploy'],
  ['README.md'],
  ['CHANGELOG.md'],
  ['SECURITY.md'],
  ['LICENSE'],
  ['.github/CONTRIBUTING.md'],
  ['bench/README.md'],
  ['bench/compat/differences.yaml'],
  ['editors/vscode', /^(?:language-configuration|package)\.json$/u],
  ['editors/vscode/syntaxes'],
  ['test/gateways', /\.(?:cfg|conf|mjs|vcl)$/u],
  ['test/runtime/model/exchanges', /\.txt$/u],
];

rmSync(target, { recursive: true, force: true });
for (const [path, pattern] of CONTENTS) {
  const names = pattern === undefined ? [''] : readdirSync(join(root, path)).filter((name) => pattern.test(name));
  if (names.length === 0) throw new Error(`no file in ${path} matches ${pattern}`);
  for (const name of names) copy(join(path, name));
}
const pages = readdirSync(target, { recursive: true }).filter((name) => name.endsWith('.md'));
const text = pages.map((name) => readFileSync(join(target, name), 'utf8')).join();
for (const name of readdirSync(join(root, 'bench/results'))) {
  if (text.includes(`bench/results/${name}`) || text.includes(`](results/${name}`)) copy(join('bench/results', name));
}
cpSync(join(root, 'dist/sbom.cdx.json'), join(target, 'sbom.cdx.json'));

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
for (const name of ['private', 'scripts', 'dependencies', 'devDependencies']) delete manifest[name];
const binaries = readdirSync(join(root, 'dist/node_modules')).toSorted();
manifest.optionalDependencies = Object.fromEntries(binaries.map((name) => [name, manifest.version]));
manifest.files = readdirSync(target).toSorted();
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);

function copy(path) {
  mkdirSync(dirname(join(target, path)), { recursive: true });
  cpSync(join(root, path), join(target, path), { recursive: true, filter: isPublic });
}

/** A developer's keys can be next to the samples. */
function isPublic(path) {
  return !/^\.env(?:\.local)?$/u.test(basename(path));
}
