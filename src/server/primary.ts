import cluster from 'node:cluster';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../base/invariant.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../logging/logger.ts';
import type { Program } from '../schema/program.ts';
import { claimPorts } from './claim-port.ts';
import { MergedMetrics } from './metrics/merged-metrics.ts';
import { nodeFlags } from './node-flags.ts';
import { ProgramFiles } from './program-files.ts';
import type { ProcessSignals } from './process-signals.ts';
import { WorkerGroup } from './worker-group.ts';

/** What the primary needs of the command that starts it. */
export interface PrimaryOptions {
  readonly logger: Logger;
  readonly signals: ProcessSignals;
  /** Version of this program, for status and metrics. */
  readonly version: string;
  /** Writes the start line to the standard output. */
  print(line: string): void;
  /** Writes why it does not start to the standard error. */
  printError(line: string): void;
  /** Reads definitions and `.env` anew (SIGHUP); undefined when they have errors, which it reports itself. */
  readonly reload: () => Reloaded | undefined;
}

/** What a reload brings. */
export interface Reloaded {
  readonly program: Program;
  readonly env: Config['env'];
  readonly secrets: Config['secrets'];
}

/**
 * Serves `program` until a signal ends it: claims the port, forks the workers, supervises them.
 * Resolves with the exit code: 0 after a drain, 1 when it could not start. Never rejects.
 */
export async function runPrimary(config: Config, program: Program, options: PrimaryOptions): Promise<number> {
  const { port, metricsPort } = config;
  const claims = await claimPorts(config.host, metricsPort === undefined ? [port] : [port, metricsPort]);
  if (!claims.ok) {
    options.printError(claims.failure);
    return 1;
  }
  try {
    const [claimed = port] = claims.value.ports;
    return await new Primary(config, options, { port: claimed, directory: privateDirectory() }).run(program);
  } catch (error) {
    options.printError(`The server could not start: ${messageOf(error)}.`);
    return 1;
  } finally {
    claims.value.release();
  }
}

/** A folder for compiled programs, which this user alone can read; removed with the process, on whatever way that ends. */
function privateDirectory(): string {
  try {
    const directory = mkdtempSync(join(tmpdir(), 'svc-'));
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    return directory;
  } catch (error) {
    const advice = 'set TMPDIR to a folder that can be written';
    throw new Error(`there is no place for the compiled program (${messageOf(error)}): ${advice}`, { cause: error });
  }
}

/** What is ours until the process ends. */
interface Holdings {
  readonly port: number;
  /** Readable by this user alone. */
  readonly directory: string;
}

/** While it drains, what is still in flight is logged this often. */
const DRAIN_REPORT_MS = 5_000;

class Primary {
  /** Its environment is that of the last reload. */
  #config: Config;
  readonly #options: PrimaryOptions;
  readonly #holdings: Holdings;
  readonly #metrics = new MergedMetrics();
  readonly #programs: ProgramFiles;
  #reloading = false;
  /** Asked for while another one was under way, which may have read the files before they changed. */
  #reloadAgain = false;
  #ending = false;
  #served: string | undefined;

  constructor(config: Config, options: PrimaryOptions, holdings: Holdings) {
    this.#config = config;
    this.#options = options;
    this.#holdings = holdings;
    this.#programs = new ProgramFiles(holdings.directory);
  }

  async run(program: Program): Promise<number> {
    const { logger, signals, version } = this.#options;
    const group = new WorkerGroup({
      config: this.#config,
      port: this.#holdings.port,
      program: { path: this.#write(program), config: this.#config },
      programs: this.#programs,
      version,
      logger,
      metrics: this.#metrics,
    });
    // A second signal ends this process at once: a worker that hangs would not notice, and keep the port.
    process.once('exit', () => group.kill());
    cluster.setupPrimary({ exec: workerFile(), args: [], execArgv: [...nodeFlags(this.#config)] });
    const started = await Promise.race([group.start(), signals.stop]);
    if (typeof started !== 'string') {
      if (!started.ok) {
        this.#options.printError(`The server could not start: ${started.failure}.`);
        return 1;
      }
      this.#announce(program, group.transport);
      signals.onReload(() => void this.#reload(group));
    }
    await this.#drain(group, await signals.stop);
    return 0;
  }

  #announce(program: Program, transport: 'uws' | 'node'): void {
    const { host, workers } = this.#config;
    const address = `http://${host.includes(':') ? `[${host}]` : host}:${this.#holdings.port}`;
    const functions = count(program.functions.length, 'function');
    this.#options.print(
      `svc: listening on ${address} (${functions}, ${count(workers, 'worker')}, ${transport}), docs at ${address}${this.#config.basePath}/docs`,
    );
    if (migrateRequests() !== '0') return;
    const message =
      'net.ipv4.tcp_migrate_req is 0: replacing a worker can reset a connection that waits to be accepted';
    this.#options.logger.info({}, message);
  }

  #write(program: Program): string {
    this.#serves(program.hash);
    return this.#programs.write(program);
  }

  #serves(hash: string): void {
    this.#served = hash;
    this.#metrics.serving(hash, this.#options.version);
  }

  async #reload(group: WorkerGroup): Promise<void> {
    const { logger, reload } = this.#options;
    this.#reloadAgain = this.#reloading;
    if (this.#reloading || this.#ending) return;
    this.#reloading = true;
    try {
      await this.#rollTo(group, reload());
    } catch (error) {
      logger.error({ err: error }, 'the definitions could not be reloaded; the old ones stay');
    }
    this.#reloading = false;
    if (this.#reloadAgain) await this.#reload(group);
  }

  async #rollTo(group: WorkerGroup, reloaded: Reloaded | undefined): Promise<void> {
    const { logger } = this.#options;
    if (reloaded === undefined) {
      logger.warn({}, 'the definitions have errors; the old ones stay');
      return;
    }
    const { program, env, secrets } = reloaded;
    if (program.hash === this.#served && isDeepStrictEqual(env, this.#config.env)) {
      logger.info({}, 'the definitions did not change');
      return;
    }
    const config = { ...this.#config, env, secrets };
    const rolled = await group.roll({ path: this.#programs.write(program), config });
    if (group.stopping) return;
    if (rolled) this.#rolled(program, config);
    else logger.error({ program: program.hash }, 'no worker could serve the new definitions; the old ones stay');
  }

  #rolled(program: Program, config: Config): void {
    this.#config = config;
    this.#serves(program.hash);
    this.#options.logger.info({ program: program.hash }, 'all workers serve the new definitions');
  }

  async #drain(group: WorkerGroup, signal: string): Promise<void> {
    this.#ending = true;
    const { drainDelayMs, drainTimeoutMs } = this.#config;
    const { logger } = this.#options;
    logger.info({ signal, inFlight: group.inFlight }, 'stopping');
    group.unready();
    if (drainDelayMs > 0) await sleep(drainDelayMs);
    const report = setInterval(() => logger.info({ inFlight: group.inFlight }, 'draining'), DRAIN_REPORT_MS);
    await group.drain(drainTimeoutMs);
    clearInterval(report);
    logger.info({ cut: group.cut }, 'stopped');
  }
}

/** All programs are bundled into one folder. */
function workerFile(): string {
  return fileURLToPath(new URL('http-worker.js', import.meta.url));
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
