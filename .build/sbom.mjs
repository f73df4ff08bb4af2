// Writes the bill of materials of the package (CycloneDX) to dist/sbom.cdx.json: the packages of which the build contains a
// copy, with their versions, hashes and licences, from the lock file.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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

const copied = Object.entries(lock.packages).filter(([path]) => COPIED.has(path));
// `npm audit --omit=dev` would not see it.
const tools = copied.filter(([, { dev }]) => dev === true).map(([path]) => path);
if (tools.length > 0) throw new Error(`no package in "dependencies" requires ${tools.join(', ')}, which svc contains`);
const shipped = new Set(
  copied.map(([path, { name: own, version }]) => `${own ?? path.replace(/^.*node_modules\//u, '')}@${version}`),
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
// npm names the package after the folder, and the manifest that it reads is not the published one.
bill.metadata.component.name = name;
bill.metadata.component.properties = [];
const reference = bill.metadata.component['bom-ref'];
bill.components = bill.components.filter((component) => shipped.has(component['bom-ref'].split('|')[0]));
const references = new Set([reference, ...bill.components.map((component) => component['bom-ref'])]);
bill.dependencies = bill.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => references.has(each)) }));
const listed = new Set(bill.components.map((component) => component['bom-ref'].split('|')[0]));
const missing = [...shipped].filter((each) => !listed.has(each));
if (missing.length > 0) throw new Error(`npm did not list ${missing.join(', ')}`);
const unhashed = bill.components.filter(({ hashes }) => hashes === undefined).map(({ purl }) => purl);
if (unhashed.length > 0) throw new Error(`the lock file has no hash for ${unhashed.join(', ')}`);

writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(bill, undefined, 2)}\n`);
