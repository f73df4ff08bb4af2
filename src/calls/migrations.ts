import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Migration {
  /** 1 for the first. */
  readonly number: number;
  readonly sql: string;
}

/** Returns the migrations that a database of this version lacks. Throws if a newer svc has migrated it further than this one can read. */
export function migrationsAfter(kind: 'sqlite' | 'postgres', version: number): readonly Migration[] {
  const folder = new URL(`${kind}/`, FOLDER);
  const all = readdirSync(fileURLToPath(folder))
    .toSorted()
    .map((name) => ({ number: Number(name.slice(0, 3)), sql: readFileSync(new URL(name, folder), 'utf8') }));
  const newest = all.at(-1)?.number ?? 0;
  if (version > newest) {
    throw new Error(`its tables are of version ${version}, and this svc knows ${newest}: use the newer svc`);
  }
  return all.filter(({ number }) => number > version);
}

/** Beside the sources; for the programs, which are bundled into one folder, and for compiled sources, where the build copies them. */
const PLACES = ['./migrations/', '../assets/calls/', '../../assets/calls/'].map(
  (path) => new URL(path, import.meta.url),
);

const FOLDER = PLACES.find((place) => existsSync(place)) ?? import.meta.url;
