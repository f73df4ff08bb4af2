import { mkdtempSync, readFileSync, rmSync, watchFile } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { saveCodeCache } from '../base/code-cache.ts';
import { messageOf } from '../base/invariant.ts';
import type { Result } from '../base/result.ts';
import type { Config } from '../config/config.ts';
import type { KeyFile } from '../config/key-file.ts';
import type { Logger } from '../logging/logger.ts';
import type { DefinitionProblem } from '../schema/program.ts';
import { findSqlite } from '../calls/sqlite-calls.ts';
import { type Backends, memoryBackends } from './shared-state.ts';
import { claimPorts } from './ports.ts';
import { listensOnLoopback } from './http/local-caller.ts';
import { ClusterMetrics } from './metrics/cluster-metrics.ts';
import { openFileLimit, openFilesWarning } from './node-process.ts';
import type { ProgramPlane } from './program-answers.ts';
import type { CallKeeper } from './call-keeper.ts';
import { type SaveTest, type ServedProgram, Supervisor } from './supervisor.ts';
import { requiresKey } from './http/auth.ts';
import { readKeys } from '../config/read-keys.ts';

/** The parts of the serve command that the primary uses. */
export interface PrimaryOptions {
  readonly logger: Logger;
  readonly signals: ServerSignals;
  /** Version of this program, for status and metrics. */
  readonly version: string;
  readonly reporter: ServerReporter;
  /** Writes a test from a kept call; absent except in `svc dev`. */
  readonly saveTest?: SaveTest | undefined;
  /** Reads definitions and `.env` again; fails with their errors, which it has reported. */
  readonly reload: () => Promise<Result<Reloaded, readonly DefinitionProblem[]>>;
}

/** The requests of its user to a running server. */
export interface ServerSignals {
  /** Resolves with the name of the signal that requests a stop. */
  readonly stop: Promise<string>;
  /** Calls `reload` at each request to reload from now on, and once now if there was one before. */
  onReload(reload: () => void): void;
}

/** Receives the events of a server that its user waits for. */
export interface ServerReporter {
  /** All workers serve. */
  started(server: StartedServer): void;
  /** The server cannot start, for this reason: a sentence. */
  notStarted(reason: string): void;
  reloaded(outcome: ReloadOutcome, program: ServableProgram | undefined): void;
}

export interface StartedServer {
  /** The port that was claimed; never 0. */
  readonly port: number;
  readonly transport: 'uws' | 'node';
  readonly program: ServableProgram;
  /** Only programs on this machine can reach it. */
  readonly onLoopback: boolean;
  /** About its settings and its system. */
  readonly warnings: readonly string[];
}

/**
 * The end of a reload. `served`: all workers serve the new program. `unchanged`: it equals the old one. `invalid`: the
 * definitions have errors. `refused`: no worker could serve it. The old program stays after the last three.
 */
export type ReloadOutcome = 'served' | 'unchanged' | 'invalid' | 'refused';

/** A compiled program. The primary does not read it, so that it need not hold it. It compiles only after `write`. */
export interface ServableProgram extends ProgramPlane {
  readonly hash: string;
  /** Number of functions. */
  readonly functions: number;
  /** At least one file has the extension of BAML. */
  readonly fromBaml: boolean;
  /** Writes the file that workers load, and returns its path. Call this once. */
  write(directory: string): string;
  /**
   * Compiles argument validators before the first calls that need them, up to a limit. Ignores a function whose validators cannot be
   * compiled: its first call reports the failure. Never rejects.
   */
  compileAhead(): Promise<void>;
}

/** The result of reading definitions and `.env` again. */
export interface Reloaded {
  readonly program: ServableProgram;
  readonly env: Config['env'];
  readonly secrets: Config['secrets'];
}

/**
 * Serves `program` until a signal ends it: claims the ports, forks the workers, supervises them.
 * Resolves with the exit code: 0 after a drain, 1 when it could not start. Never rejects.
 */
export async function runPrimary(config: Config, program: ServableProgram, options: PrimaryOptions): Promise<number> {
  const { port, metricsPort } = config;
  const claims = await claimPorts(config.host, metricsPort === undefined ? [port] : [port, metricsPort]);
  if (!claims.ok) {
    options.reporter.notStarted(claims.failure);
    return 1;
  }
  try {
    const [claimed = port] = claims.value.ports;
    return await new Primary(config, options, { port: claimed, directory: privateDirectory() }).run(program);
  } catch (error) {
    options.reporter.notStarted(`The server could not start: ${messageOf(error)}.`);
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

  #servedProgram(program: ServableProgram, config: Config): ServedProgram {
    const path = program.write(this.#holdings.directory);
    return {
      path,
      config,
      validators: (functionName) => program.validators(functionName),
      types: (request) => program.types(request),
    };
  }

  async run(program: ServableProgram): Promise<number> {
    const backends = await createBackends(this.#config, this.#options.logger);
    const calls = await openCallKeeper(this.#config, this.#options.logger);
    try {
      return await this.#serve(program, { ...backends, calls });
    } finally {
      await calls?.close();
      await backends.store?.close();
    }
  }

  async #serve(
    program: ServableProgram,
    { calls, ...backends }: Backends & { readonly calls: CallKeeper | undefined },
  ): Promise<number> {
    const { logger, signals, version } = this.#options;
    this.#serves(program.hash);
    const supervisor = new Supervisor({
      config: this.#config,
      port: this.#holdings.port,
      program: this.#servedProgram(program, this.#config),
      version,
      logger,
      metrics: this.#metrics,
      backends,
      calls,
      saveTest: this.#options.saveTest,
    });
    // A second signal ends this process at once: a worker that hangs would not notice, and would keep the port.
    process.once('exit', () => supervisor.kill());
    const started = await Promise.race([supervisor.start(), signals.stop]);
    if (typeof started !== 'string') {
      if (!started.ok) {
        this.#options.reporter.notStarted(`The server could not start: ${started.failure}.`);
        return 1;
      }
      this.#announce(program, supervisor.transport);
      void program.compileAhead();
      saveCodeCache();
      const keys = this.#keyReload(supervisor);
      keys?.start();
      signals.onReload(() => {
        keys?.reload();
        void this.#reload(supervisor);
      });
    }
    await this.#drain(supervisor, await signals.stop);
    return 0;
  }

  #announce(program: ServableProgram, transport: 'uws' | 'node'): void {
    const tooFewFiles = openFilesWarning(this.#config, openFileLimit());
    const warnings = [...startWarnings(this.#config), ...(tooFewFiles === undefined ? [] : [tooFewFiles])];
    const onLoopback = listensOnLoopback(this.#config.host);
    this.#options.reporter.started({ port: this.#holdings.port, transport, program, onLoopback, warnings });
    if (migrateRequests() === '0') this.#options.logger.debug({}, RESETS_CONNECTIONS);
  }

  #keyReload(supervisor: Supervisor): KeyReload | undefined {
    const { apiKey: password, keyFile: file, keys: path } = this.#config;
    if (path === undefined || file === undefined) return undefined;
    const onKeys = (keyFile: KeyFile): void => supervisor.tell({ keyFile });
    return new KeyReload({ path, file, password, logger: this.#options.logger, onKeys });
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
      await this.#moveTo(supervisor, await reload());
    } catch (error) {
      logger.error({ err: error }, 'the definitions could not be reloaded; the old ones stay');
    }
    this.#reloading = false;
    if (this.#reloadAgain) await this.#reload(supervisor);
  }

  async #moveTo(supervisor: Supervisor, reloaded: Result<Reloaded, readonly DefinitionProblem[]>): Promise<void> {
    if (this.#ending) return;
    supervisor.showProblems(reloaded.ok ? [] : reloaded.failure);
    const outcome = reloaded.ok ? await this.#outcomeOf(supervisor, reloaded.value) : 'invalid';
    const program = reloaded.ok ? reloaded.value.program : undefined;
    if (!supervisor.stopping) this.#options.reporter.reloaded(outcome, program);
  }

  async #outcomeOf(supervisor: Supervisor, reloaded: Reloaded): Promise<Exclude<ReloadOutcome, 'invalid'>> {
    const { program, env, secrets } = reloaded;
    if (program.hash === this.#served && isDeepStrictEqual(env, this.#config.env)) return 'unchanged';
    const config = { ...this.#config, env, secrets };
    if (!(await supervisor.reload(this.#servedProgram(program, config)))) return 'refused';
    this.#config = config;
    this.#serves(program.hash);
    void program.compileAhead();
    return 'served';
  }

  async #drain(supervisor: Supervisor, signal: string): Promise<void> {
    this.#ending = true;
    const { drainDelayMs } = this.#config;
    const { logger } = this.#options;
    logger.info({ signal, inFlight: supervisor.inFlight }, 'stopping');
    supervisor.tell({ mayBeReady: false });
    if (drainDelayMs > 0) await sleep(drainDelayMs);
    const report = setInterval(() => logger.info({ inFlight: supervisor.inFlight }, 'draining'), DRAIN_REPORT_MS);
    await supervisor.drain();
    clearInterval(report);
    logger.info({ cut: supervisor.cut }, 'stopped');
  }
}

/** Loads the code of the store only if the server has one. */
async function createBackends(config: Config, logger: Logger): Promise<Backends> {
  if (config.store === undefined) return memoryBackends(config);
  const { storeBackends } = await import('./store-backends.ts');
  return storeBackends({ config, address: config.store, logger });
}

/** Loads the code of kept calls only if the server keeps them. Throws if the process has no SQLite. */
async function openCallKeeper(config: Config, logger: Logger): Promise<CallKeeper | undefined> {
  const { calls: address, callsMaxAgeMs: maxAgeMs, callsMaxSizeBytes: maxSize } = config;
  if (address === 'off') return undefined;
  const sqlite = address.kind === 'sqlite' ? findSqlite() : undefined;
  if (sqlite?.ok === false) throw new Error(`--calls is not possible here: ${sqlite.failure}`);
  const { CallKeeper: Keeper } = await import('./call-keeper.ts');
  return new Keeper({ address, retention: { maxAgeMs, maxSize } }, logger);
}

/** The kernel's setting that moves waiting connections to another listener; undefined where it does not exist. */
function migrateRequests(): string | undefined {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim();
  } catch {
    return undefined;
  }
}

type Exposure = Pick<Config, 'allowPrivateUrls' | 'apiKey' | 'clientRegistry' | 'host' | 'keyFile'>;

/** Returns warnings for the log: what anyone can do with a server that has these settings, and what to set. */
export function startWarnings(exposure: Exposure): readonly string[] {
  const { allowPrivateUrls, apiKey, clientRegistry, host, keyFile } = exposure;
  if (requiresKey({ file: keyFile, password: apiKey })) return [];
  const isPublic = !listensOnLoopback(host);
  const anyone = isPublic ? 'anyone who can reach this server' : 'every program and every user of this machine';
  const warnings: string[] = [];
  if (isPublic) {
    warnings.push(
      `SVC_PASSWORD is not set and svc listens on ${host}: ${anyone} can call every function, paid for with the provider ` +
        'keys of this server. Set SVC_PASSWORD, or pass --host 127.0.0.1 to serve this machine only.',
    );
  }
  if (clientRegistry === 'open') {
    const targets = allowPrivateUrls ? 'any public or private address' : 'any public address';
    warnings.push(
      `SVC_PASSWORD is not set and --client-registry is open: ${anyone} can make svc send requests to ${targets}, through ` +
        'clients that a request defines. Set SVC_PASSWORD, or pass --client-registry known or off.',
    );
  }
  return warnings;
}

/**
 * How often the key file is compared by its size and times. Events of the file system would miss network file systems, and the
 * symbolic links with which Kubernetes replaces mounted secrets.
 */
const POLL_MS = 1_000;

/** An editor can empty a file before it writes the new content. */
const SETTLE_MS = 100;

interface KeyReloadOptions {
  readonly path: string;
  /** The content at the start. */
  readonly file: KeyFile;
  /** Set if the server has a key outside the file. */
  readonly password: string | undefined;
  readonly logger: Logger;
  /** Called with each new content. */
  readonly onKeys: (file: KeyFile) => void;
}

/** Reads the key file again when it changes, or on request. A file with a mistake changes nothing. */
class KeyReload {
  readonly #options: KeyReloadOptions;
  #file: KeyFile;
  #settle: NodeJS.Timeout | undefined;

  constructor(options: KeyReloadOptions) {
    this.#options = options;
    this.#file = options.file;
  }

  start(): void {
    watchFile(this.#options.path, { interval: POLL_MS, persistent: false }, () => {
      clearTimeout(this.#settle);
      this.#settle = setTimeout(() => this.reload(), SETTLE_MS).unref();
    });
  }

  reload(): void {
    const { logger, onKeys, password, path } = this.#options;
    const read = readKeys(path);
    if (!read.ok) {
      logger.error({ reason: read.failure }, 'the key file has a mistake; the old keys stay');
      return;
    }
    const file = read.value;
    if (isDeepStrictEqual(file, this.#file)) return;
    // A mistake in a file must not open the server to everyone.
    if (requiresKey({ file: this.#file, password }) && !requiresKey({ file, password })) {
      const reason = `${JSON.stringify(path)} has no list "keys". Restart svc to serve without keys.`;
      logger.error({ reason }, 'the key file has a mistake; the old keys stay');
      return;
    }
    this.#file = file;
    logger.info({ keys: file.keys?.length ?? 0 }, 'all workers use the new keys');
    onKeys(file);
  }
}
