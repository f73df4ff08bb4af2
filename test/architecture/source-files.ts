import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface TextFile {
  /** Relative to the package folder, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Output of tools and of git, not part of the sources. */
const SKIPPED_FOLDERS = new Set(['.git', 'node_modules', 'dist', 'coverage', 'results', 'generated']);
const TEXT_ENDINGS =
  /\.(?:tsx?|mjs|js|json|md|ya?ml|baml|svc|txt|sh|html|css|toml)$|(?:^|\/)(?:Dockerfile|LICENSE|run|\.[a-z]+)$/;

/** Returns the text files of the project, or of some of its folders. */
export function textFiles(...folders: readonly string[]): readonly TextFile[] {
  const found = folders.length === 0 ? walk(ROOT) : folders.flatMap((folder) => walk(join(ROOT, folder)));
  return found
    .map((file) => ({ file, path: relative(ROOT, file).split(sep).join('/') }))
    .filter(({ path }) => TEXT_ENDINGS.test(path))
    .map(({ file, path }) => ({ path, text: readFileSync(file, 'utf8') }));
}

function walk(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED_FOLDERS.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() ? [path] : [];
  });
}
