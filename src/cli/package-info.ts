import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { invariant } from '../base/invariant.ts';
import { isJsonObject } from '../base/json.ts';

export interface PackageInfo {
  /** The folder of our package.json. */
  readonly root: string;
  readonly version: string;
}

/** Looks upwards from this file, since the built program lies one level deeper than its source. */
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
