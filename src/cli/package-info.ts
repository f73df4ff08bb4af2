import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { invariant } from '../base/invariant.ts';
import { isJsonObject } from '../base/json.ts';

export interface PackageInfo {
  readonly root: string;
  readonly version: string;
}

/** Finds package.json above this file; the built program and its source are at different depths. */
export function packageInfo(): PackageInfo {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json'))) {
    invariant(root !== dirname(root), 'no package.json above the program');
    root = dirname(root);
  }
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  invariant(isJsonObject(manifest) && typeof manifest['version'] === 'string', 'package.json without a version');
  return { root, version: manifest['version'] };
}
