import { readFileSync } from 'node:fs';

/** The token in a file that is written anew while a container lives; undefined when it cannot be read. */
export function readTokenFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
