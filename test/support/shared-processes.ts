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

/** Starts with the files that need their own process: a process ends when the next file cannot share it. */
export class OwnProcessesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer returns a new array
    const sorted = await super.sort(files);
    const own = new Set(sorted.filter(({ moduleId }) => needsOwnProcess(moduleId)));
    return [...own, ...sorted.filter((file) => !own.has(file))];
  }
}
