import cluster, { type Worker as ClusterWorker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.ts';
import { nodeFlags, workerVariables } from './node-process.ts';

/** Started before the server, which takes them over. */
const ahead: ProcessAhead[] = [];

/**
 * Starts processes of workers that load their code while the definitions compile, and wait for the server. They leave a core to the compiler, so
 * that the first worker answers as early as possible. Never throws: the server starts what is missing, and reports why it cannot. Does nothing
 * in a run from sources, which has no program of workers.
 */
export function forkAhead(config: Config): void {
  if (import.meta.url.endsWith('.ts')) return;
  process.once('exit', endAhead);
  const count = Math.max(1, Math.min(config.workers, config.cores - 1));
  try {
    while (ahead.length < count) ahead.push(new ProcessAhead(fork(config)));
  } catch {
    // The system starts no more processes.
  }
}

/** Ends the processes that no server has taken over. */
export function endAhead(): void {
  process.off('exit', endAhead);
  for (const each of ahead.splice(0)) each.kill();
}

/** Returns a process that was started ahead, or a new one. Throws for some of the reasons why the system cannot start it. */
export function forkWorker(config: Config): ClusterWorker {
  for (let first = ahead.shift(); first !== undefined; first = ahead.shift()) {
    if (first.isAlive) return first.takeOver();
  }
  return fork(config);
}

function fork(config: Config): ClusterWorker {
  cluster.setupPrimary({ exec: workerFile(), args: [], execArgv: [...nodeFlags(config)] });
  return cluster.fork(workerVariables(config));
}

/** All programs are bundled into one folder. */
function workerFile(): string {
  return fileURLToPath(new URL('http-worker.js', import.meta.url));
}

/** Keeps the messages of a process until its server listens to it. */
class ProcessAhead {
  readonly #worker: ClusterWorker;
  readonly #messages: unknown[] = [];
  readonly #keep = (message: unknown): void => void this.#messages.push(message);
  #failed = false;
  readonly #fail = (): void => void (this.#failed = true);

  constructor(worker: ClusterWorker) {
    this.#worker = worker;
    worker.on('message', this.#keep);
    worker.on('error', this.#fail);
  }

  get isAlive(): boolean {
    return !this.#failed && this.#worker.process.pid !== undefined && !this.#worker.isDead();
  }

  /** Its messages follow in the next tick. */
  takeOver(): ClusterWorker {
    const worker = this.#worker;
    worker.off('message', this.#keep);
    worker.off('error', this.#fail);
    process.nextTick(() => {
      for (const message of this.#messages) worker.emit('message', message);
    });
    return worker;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}
