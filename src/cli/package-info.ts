import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { invariant } from '../base/invariant.ts';
import { isJsonObject } from '../base/json.ts';

export interface PackageInfo {
  readonly root: string;
  readonly version: string;
}

/** Finds the manifest of svc above this file; the built program and its source are at different depths. */
export function packageInfo(): PackageInfo {
  for (let root = dirname(fileURLToPath(import.meta.url)); ; root = dirname(root)) {
    const version = versionIn(join(root, 'package.json'));
    if (version !== undefined) return { root, version };
    invariant(root !== dirname(root), 'no package.json with a version above the program');
  }
}

/** Folders of a build have manifests that only state the kind of their modules. */
function versionIn(manifestPath: string): string | undefined {
  if (!existsSync(manifestPath)) return undefined;
  const manifest: unknown = JSON.parse(readFileSync(manifestPath, 'utf8'));
  return isJsonObject(manifest) && typeof manifest['version'] === 'string' ? manifest['version'] : undefined;
}
