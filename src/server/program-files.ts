import { rmSync } from 'node:fs';
import { writeProgram } from '../runtime/call/load-program.ts';
import type { Program } from '../schema/program.ts';

/** The programs that workers load, each in a file of its own. */
export class ProgramFiles {
  readonly #directory: string;
  readonly #paths = new Set<string>();

  /** `directory` is readable by this user alone. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws when the directory cannot be written. */
  write(program: Program): string {
    const path = writeProgram(program, this.#directory);
    this.#paths.add(path);
    return path;
  }

  /** Removes all others: the directory may be memory, and reloads may be many. */
  keep(paths: ReadonlySet<string>): void {
    for (const path of this.#paths) {
      if (paths.has(path)) continue;
      rmSync(path, { force: true });
      this.#paths.delete(path);
    }
  }
}
