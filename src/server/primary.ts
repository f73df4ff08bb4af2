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
import { writeProgram } from '../runtime/call/load-program.ts';
import type { Program } from '../schema/program.ts';
import { claimPorts } from './claim-port.ts';
import { ClusterMetrics } from './metrics/cluster-metrics.ts';
import { nodeFlags } from './node-flags.ts';
import type { ProcessSignals } from './process-signals.ts';
import { startWarnings } from './start-warnings.ts';
import { Supervisor, type ServedProgram } from './supervisor.ts';

/** The parts of the serve command that the primary uses. */
export interface PrimaryOptions {
  readonly logger: Logger;
  readonly signals: ProcessSignals;
  /** Version of this program, for status and metrics. */
  readonly version: string;
  /** Starts to load the compiler of argument validators; the function it returns gives the source for one function. */
  validators(program: Program): (functionName: string) => Promise<string>;
  /** Writes the start line to the standard output. */
  print(line: string): void;
  /** Writes the reason of a failed start to the standard error. */
  printError(line: string): void;
  /** Reads definitions and `.env` again (SIGHUP); undefined when they have errors, which it reports itself. */
  readonly reload: () => Reloaded | undefined;
}

/** The result of reading definitions and `.env` again. */
export interface Reloaded {
  readonly program: Program;
  readonly env: Config['env'];
  readonly secrets: Config['secrets'];
}

/**
 * Serves `program` until a signal ends it: claims the ports, forks the workers, supervises them.
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

/** A folder for compiled programs that only this user can read. Removed when the process exits. */
function privateDirectory(): string {
  try {
    const directory = mkdtempSync(join(tmpdir(), 'svc-'));
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    return directory;
  } catch (error) {
    const reason = `the compiled program cannot be written to a temporary folder (${messageOf(error)})`;
    throw new Error(`${reason}: set TMPDIR to a writable folder`, { cause: error });
  }
}

/** Resources that this process holds until it ends. */
interface Holdings {
  readonly port: number;
  /** Only this user can read it. */
  readonly directory: string;
}

/** Interval of the log lines that count the calls in flight during a drain. */
const DRAIN_REPORT_MS = 5_000;

const FOR_CALLERS_OF_BAML =
  "for callers of BAML's server: stream events are wrapped in partial_result and final_result, and svc refuses unknown " +
  'arguments; docs/migrating-from-baml.md lists all differences';

const RESETS_CONNECTIONS =
  'net.ipv4.tcp_migrate_req is 0: replacing a worker can reset connections that wait to be accepted; set it to 1';

class Primary {
  /** A reload changes its environment. */
  #config: Config;
  readonly #options: PrimaryOptions;
  readonly #holdings: Holdings;
  readonly #metrics = new ClusterMetrics();
  #reloading = false;
  /** A reload was requested during another one, which may have read the files before they changed. */
  #reloadAgain = false;
  #ending = false;
  /** Hash of the program that all workers serve. */
  #served: string | undefined;

  constructor(config: Config, options: PrimaryOptions, holdings: Holdings) {
    this.#config = config;
    this.#options = options;
    this.#holdings = holdings;
  }

  #servedProgram(program: Program, config: Config): ServedProgram {
    const validators = this.#options.validators(program);
    return { path: writeProgram(program, this.#holdings.directory), config, validators };
  }

  async run(program: Program): Promise<number> {
    const { logger, signals, version } = this.#options;
    this.#serves(program.hash);
    const supervisor = new Supervisor({
      config: this.#config,
      port: this.#holdings.port,
      program: this.#servedProgram(program, this.#config),
      version,
      logger,
      metrics: this.#metrics,
    });
    // A second signal ends this process at once: a worker that hangs would not notice, and would keep the port.
    process.once('exit', () => supervisor.kill());
    cluster.setupPrimary({ exec: workerFile(), args: [], execArgv: [...nodeFlags(this.#config)] });
    const started = await Promise.race([supervisor.start(), signals.stop]);
    if (typeof started !== 'string') {
      if (!started.ok) {
        this.#options.printError(`The server could not start: ${started.failure}.`);
        return 1;
      }
      this.#announce(program, supervisor.transport);
      signals.onReload(() => void this.#reload(supervisor));
    }
    await this.#drain(supervisor, await signals.stop);
    return 0;
  }

  #announce(program: Program, transport: 'uws' | 'node'): void {
    const { from, host, workers, basePath } = this.#config;
    const address = `http://${host.includes(':') ? `[${host}]` : host}:${this.#holdings.port}`;
    const functions = `${count(program.functions.length, 'function')} from ${JSON.stringify(from)}`;
    const served = `${functions}, ${count(workers, 'worker')}, ${transport}`;
    this.#options.print(`svc: listening on ${address} (${served}), docs at ${address}${basePath}/docs`);
    for (const warning of startWarnings(this.#config)) this.#options.logger.warn({}, warning);
    if (program.files.some(({ path }) => path.endsWith('.baml'))) this.#options.logger.info({}, FOR_CALLERS_OF_BAML);
    if (migrateRequests() === '0') this.#options.logger.info({}, RESETS_CONNECTIONS);
  }

  #serves(hash: string): void {
    this.#served = hash;
    this.#metrics.serving(hash, this.#options.version);
  }

  async #reload(supervisor: Supervisor): Promise<void> {
    const { logger, reload } = this.#options;
    this.#reloadAgain = this.#reloading;
    if (this.#reloading || this.#ending) return;
    this.#reloading = true;
    try {
      await this.#moveTo(supervisor, reload());
    } catch (error) {
      logger.error({ err: error }, 'the definitions could not be reloaded; the old ones stay');
    }
    this.#reloading = false;
    if (this.#reloadAgain) await this.#reload(supervisor);
  }

  async #moveTo(supervisor: Supervisor, reloaded: Reloaded | undefined): Promise<void> {
    const { logger } = this.#options;
    if (reloaded === undefined) {
      logger.warn({}, 'the definitions have errors; the old ones stay');
      return;
    }
    const { program, env, secrets } = reloaded;
    const { hash } = program;
    if (hash === this.#served && isDeepStrictEqual(env, this.#config.env)) {
      logger.info({}, 'the definitions did not change');
      return;
    }
    const config = { ...this.#config, env, secrets };
    const moved = await supervisor.reload(this.#servedProgram(program, config));
    if (supervisor.stopping) return;
    if (!moved) {
      logger.error({ program: hash }, 'no worker could serve the new definitions; the old ones stay');
      return;
    }
    this.#config = config;
    this.#serves(hash);
    logger.info({ program: hash }, 'all workers serve the new definitions');
  }

  async #drain(supervisor: Supervisor, signal: string): Promise<void> {
    this.#ending = true;
    const { drainDelayMs } = this.#config;
    const { logger } = this.#options;
    logger.info({ signal, inFlight: supervisor.inFlight }, 'stopping');
    supervisor.unready();
    if (drainDelayMs > 0) await sleep(drainDelayMs);
    const report = setInterval(() => logger.info({ inFlight: supervisor.inFlight }, 'draining'), DRAIN_REPORT_MS);
    await supervisor.drain();
    clearInterval(report);
    logger.info({ cut: supervisor.cut }, 'stopped');
  }
}

/** All programs are bundled into one folder. */
function workerFile(): string {
  return fileURLToPath(new URL('http-worker.js', import.meta.url));
}

/** The kernel's setting that moves waiting connections to another listener; undefined where it does not exist. */
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
