import { readFileSync } from 'node:fs';
import {
  BaseSequencer,
  ForksPoolWorker,
  type PoolOptions,
  type PoolWorker,
  type TestSpecification,
  type WorkerRequest,
} from 'vitest/node';
import { needsOwnProcess } from './needs-own-process.ts';

/** A process that runs one file after another, so that it imports the sources once, or a single file that needs its own process. */
class SharedProcess extends ForksPoolWorker {
  #taken = false;

  override readonly name = 'shared-processes';

  override send(request: WorkerRequest): void {
    if ('context' in request && 'files' in request.context) {
      this.#taken = request.context.files.some(({ filepath }) => needsOwnProcess(filepath));
    }
    super.send(request);
  }

  canReuse: NonNullable<PoolWorker['canReuse']> = ({ context }) =>
    !this.#taken && !context.files.some(({ filepath }) => needsOwnProcess(filepath));
}

/** The pool of a project with `isolate: false`. */
export const sharedProcesses = {
  name: 'shared-processes',
  createPoolWorker: (options: PoolOptions): PoolWorker => new SharedProcess(options),
};

/** The tests of such a file are in a module that two files share, so it takes longer than its size suggests. */
const SHARED_TESTS = /from '\.\/test-[\w-]+\.ts'/;

/**
 * Starts with the files that need their own process, because a process ends when the next file cannot share it, and continues with
 * those that share their tests. vitest sorts the others: the slowest first, or the largest if it has not run them before.
 */
export class LongestFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranks = new Map(files.map((file) => [file, rank(file.moduleId)]));
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer returns a new array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  }
}

function rank(path: string): number {
  if (needsOwnProcess(path)) return 0;
  return SHARED_TESTS.test(readFileSync(path, 'utf8')) ? 1 : 2;
}
