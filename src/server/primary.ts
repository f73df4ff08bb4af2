import cluster from 'node:cluster';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.ts';
import type { Logger } from '../logging/logger.ts';
import { writeProgram } from '../runtime/load-program.ts';
import type { Program } from '../schema/program.ts';
import { claimPort, type PortClaim } from './claim-port.ts';
import { MergedMetrics } from './metrics/merged-metrics.ts';
import { nodeFlags } from './node-flags.ts';
import { WorkerGroup } from './worker-group.ts';

/** What the primary needs of the command that starts it. */
export interface PrimaryOptions {
  readonly logger: Logger;
  /** Version of this program, for status and metrics. */
  readonly version: string;
  /** Writes the start line to the standard output. */
  print(line: string): void;
  /** Writes why it does not start to the standard error. */
  printError(line: string): void;
  /** Compiles the definitions anew (SIGHUP); undefined when they have errors, which it reports itself. */
  readonly reload?: () => Promise<Program | undefined>;
}

/**
 * Serves `program` until a signal ends it: claims the port, forks the workers, supervises them.
 * Resolves with the exit code: 0 after a drain, 1 when it could not start. Never rejects.
 */
export async function runPrimary(config: Config, program: Program, options: PrimaryOptions): Promise<number> {
  const claim = await claimPort(config.host, config.port);
  if (!claim.ok) {
    options.printError(`Failed to bind to port ${config.port}: ${claim.failure}.`);
    return 1;
  }
  const directory = mkdtempSync(join(tmpdir(), 'svc-'));
  // Also on the ways out that end the process at once.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  try {
    return await new Primary(config, options, { claim: claim.value, directory }).run(program);
  } catch (error) {
    options.printError(`The server could not start: ${error instanceof Error ? error.message : String(error)}.`);
    return 1;
  } finally {
    claim.value.release();
  }
}

/** What is ours until the process ends. */
interface Holdings {
  readonly claim: PortClaim;
  /** Readable by this user alone. */
  readonly directory: string;
}

/** While it drains, what is still in flight is logged this often. */
const DRAIN_REPORT_MS = 5_000;

class Primary {
  readonly #config: Config;
  readonly #options: PrimaryOptions;
  readonly #holdings: Holdings;
  readonly #metrics = new MergedMetrics();
  #reloading = false;
  #served: string | undefined;

  constructor(config: Config, options: PrimaryOptions, holdings: Holdings) {
    this.#config = config;
    this.#options = options;
    this.#holdings = holdings;
  }

  async run(program: Program): Promise<number> {
    const { logger, version } = this.#options;
    const stop = stopSignal();
    const group = new WorkerGroup({
      config: this.#config,
      port: this.#holdings.claim.port,
      programPath: this.#write(program),
      version,
      logger,
      metrics: this.#metrics,
    });
    cluster.setupPrimary({ exec: workerFile(), args: [], execArgv: [...nodeFlags(this.#config)] });
    const started = await group.start();
    if (!started.ok) {
      this.#options.printError(`The server could not start: ${started.failure}.`);
      return 1;
    }
    this.#announce(program, group.transport);
    process.on('SIGHUP', () => void this.#reload(group));
    const signal = await stop;
    await this.#drain(group, signal);
    return 0;
  }

  #announce(program: Program, transport: 'uws' | 'node'): void {
    const { host, workers } = this.#config;
    const address = `http://${host.includes(':') ? `[${host}]` : host}:${this.#holdings.claim.port}`;
    const functions = count(program.functions.length, 'function');
    this.#options.print(
      `svc: listening on ${address} (${functions}, ${count(workers, 'worker')}, ${transport}), docs at ${address}${this.#config.basePath}/docs`,
    );
    if (migrateRequests() !== '0') return;
    const message =
      'net.ipv4.tcp_migrate_req is 0: replacing a worker can reset a connection that waits to be accepted';
    this.#options.logger.info({}, message);
  }

  /** Writes the program for the workers. The one before goes when no worker can need it any more. */
  #write(program: Program): string {
    this.#served = program.hash;
    this.#metrics.serving(program.hash, this.#options.version);
    return writeProgram(program, this.#holdings.directory);
  }

  async #reload(group: WorkerGroup): Promise<void> {
    const { logger, reload } = this.#options;
    if (this.#reloading || reload === undefined) return;
    this.#reloading = true;
    try {
      await this.#rollTo(group, await reload());
    } catch (error) {
      logger.error({ err: error }, 'the definitions could not be reloaded; the old ones stay');
    } finally {
      this.#reloading = false;
    }
  }

  async #rollTo(group: WorkerGroup, program: Program | undefined): Promise<void> {
    const { logger } = this.#options;
    if (program === undefined) logger.warn({}, 'the definitions have errors; the old ones stay');
    else if (program.hash === this.#served) logger.info({}, 'the definitions did not change');
    else {
      await group.roll(this.#write(program));
      logger.info({ program: program.hash }, 'all workers serve the new definitions');
    }
  }

  async #drain(group: WorkerGroup, signal: string): Promise<void> {
    const { drainDelayMs, drainTimeoutMs } = this.#config;
    const { logger } = this.#options;
    logger.info({ signal, inFlight: group.inFlight }, 'stopping');
    group.unready();
    if (drainDelayMs > 0) await sleep(drainDelayMs);
    const report = setInterval(() => logger.info({ inFlight: group.inFlight }, 'draining'), DRAIN_REPORT_MS);
    await group.drain(drainTimeoutMs);
    clearInterval(report);
    logger.info({}, 'stopped');
  }
}

/** Resolves with the first signal that asks to stop; the second one ends the process at once. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false;
    const stop = (signal: NodeJS.Signals, number: number) => {
      // The workers see that their channel is gone, and end.
      if (asked) process.exit(128 + number);
      asked = true;
      resolve(signal);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}

function workerFile(): string {
  return fileURLToPath(new URL('../../workers/http-worker.js', import.meta.url));
}

function migrateRequests(): string | undefined {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim();
  } catch {
    return undefined;
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
