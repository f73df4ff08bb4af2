// Writes the bill of materials of the package (CycloneDX) to sbom.cdx.json: the packages of which it contains a copy, with
// their hashes, from the lock file. The build runs it, and npm runs it before it packs, unless npm ignores scripts (`.npmrc` of
// this repository). Prints nothing, because `npm pack --json` prints to stdout.
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

/** The packages of which the package contains a copy: in the programs, and in the pages of `/docs` and of the playground. */
const COPIED = new Set([
  'node_modules/swagger-ui-dist',
  ...packagesIn('dist/packages/packages.json'),
  ...packagesIn('dist/assets/playground/packages.json'),
]);

/** The folders of the packages that a build found in its output. */
function packagesIn(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

const shipped = new Set(
  Object.entries(lock.packages)
    .filter(([path]) => COPIED.has(path))
    .map(([path, entry]) => `${entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 13)}@${entry.version}`),
);

const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--loglevel', 'error'];
// The npm that runs this script, if one does.
const npm = process.env.npm_execpath;
const [command, ...before] = npm === undefined ? ['npm'] : [process.execPath, npm];
const text = execFileSync(command, [...before, ...args], {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});

const bill = JSON.parse(text);
// npm names the package after the folder.
bill.metadata.component.name = name;
const reference = bill.metadata.component['bom-ref'];
bill.components = bill.components
  .filter((component) => shipped.has(component['bom-ref'].split('|')[0]))
  // They are development dependencies, but a part of the package.
  .map((component) => ({ ...component, scope: 'required', properties: component.properties?.filter(isNoDevelopment) }));
const references = new Set([reference, ...bill.components.map((component) => component['bom-ref'])]);
bill.dependencies = bill.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => references.has(each)) }));
const listed = new Set(bill.components.map((component) => component['bom-ref'].split('|')[0]));
const missing = [...shipped].filter((each) => !listed.has(each));
if (missing.length > 0) throw new Error(`npm did not list ${missing.join(', ')}`);
const unhashed = bill.components.filter(({ hashes }) => hashes === undefined).map(({ purl }) => purl);
if (unhashed.length > 0) throw new Error(`the lock file has no hash for ${unhashed.join(', ')}`);

// Another process can pack the package at the same time.
const target = join(root, 'sbom.cdx.json');
writeFileSync(`${target}.${process.pid}`, `${JSON.stringify(bill, undefined, 2)}\n`);
renameSync(`${target}.${process.pid}`, target);

function isNoDevelopment(property) {
  return property.name !== 'cdx:npm:package:development';
}
