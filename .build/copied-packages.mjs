// The packages of which a build contains a copy.
import { existsSync, readFileSync, realpathSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Modules have real paths, and the folder can be a link. */
const modules = realpathSync(join(root, 'node_modules'));

/**
 * Writes to a folder what the packages of these files require and what the bill of materials needs: `packages.LICENSE`, with
 * the licence of each package, and `packages.json`, with the paths of their folders. svc serves neither.
 */
export function writeCopiedPackages(target, files) {
  const inside = files.filter((file) => file.includes('/node_modules/') && !file.startsWith('\0'));
  const folders = [...new Set(inside.map((file) => packageFolder(realpathSync(file))))].toSorted((a, b) =>
    a < b ? -1 : 1,
  );
  writeFileSync(join(target, 'packages.LICENSE'), folders.map(licence).join('\n---\n\n'));
  const paths = folders.map((folder) => `node_modules${folder.slice(modules.length)}`);
  writeFileSync(join(target, 'packages.json'), `${JSON.stringify(paths)}\n`);
}

function licence(folder) {
  const { name, version } = manifestOf(folder);
  const files = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|notice)/iu.test(file))
    .toSorted();
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (files.length === 0) texts.push(licenceSection(folder, name));
  return `${[`${name} ${version}`, ...texts].join('\n\n')}\n`;
}

/** Some packages state their licence at the end of their readme. */
function licenceSection(folder, name) {
  const path = join(folder, 'README.md');
  const section = existsSync(path)
    ? /^(?:#+ *licen[cs]e\b|licen[cs]e\n-+$)[\s\S]*/imu.exec(readFileSync(path, 'utf8'))?.[0]
    : undefined;
  if (section === undefined) throw new Error(`${name} has no licence file`);
  return section.trim();
}

function packageFolder(file) {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json')) || !isPackage(folder)) folder = dirname(folder);
  return folder;
}

/** Some packages have further manifests in their folders. */
function isPackage(folder) {
  const { name, version } = manifestOf(folder);
  return name !== undefined && version !== undefined;
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
