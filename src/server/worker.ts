import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { saveCodeCache } from '../base/code-cache.ts';
import { messageOf, unreachable } from '../base/invariant.ts';
import { doorLinks, type Config } from '../config/config.ts';
import { createLogger, type ServiceLogger } from '../logging/create-logger.ts';
import { Redactor } from '../logging/redactor.ts';
import { CoolDowns } from '../policy/cool-downs.ts';
import { loadProgram } from '../runtime/call/load-program.ts';
import { type MissingCredential, missingCredentials } from '../runtime/model/create-model-client.ts';
import type { Program } from '../schema/program.ts';
import type { Limiter } from '../policy/limiter.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type BodyBudget, createBodyBudget } from './admission.ts';
import { connectionLimits, createTransport } from './http/transports/create-transport.ts';
import { createHandler, createOperationsHandler, createReject } from './http/create-handler.ts';
import type { Door } from './doors/door.ts';
import { type HttpServices, replaceKeys } from './http/http-services.ts';
import type { Playground } from './http/playground/playground.ts';
import type { RequestHandler, Transport, TransportOptions } from './http/transport.ts';
import { collectGarbage, IdleMemory } from './node-process.ts';
import { residentBytes } from './metrics/process-metrics.ts';
import { CallOutbox } from './call-outbox.ts';
import { ParsePool } from './parse-pool.ts';
import { PrimaryLink, type PrimaryNotice } from './primary-link.ts';
import { CRASH_DRAIN_MS, type ServerNews, type StartMessage } from './protocol.ts';
import { StepNote } from './step-note.ts';
import { createWorkerServices } from './worker-services.ts';
import type { Logger } from '../logging/logger.ts';
import { minuteWarning } from './kept-answers.ts';

/** The primary kills a worker that is silent for 9 of these. */
const HEARTBEAT_MS = 1_000;

/** Counters go with every fifth heartbeat: a killed worker loses what it counted since. */
const METRICS_EVERY = 5;

/** Bytes of a body beyond its limit that are read, so that the client receives the 413. */
const DISCARD_LIMIT = 16 * 1024 * 1024;

/** As much as for streams: room for a thousand answers of 64 KB to slow clients. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** The time for the last telemetry after a drain that took all of its time: the primary kills the worker after 2 s. */
const LEAST_FLUSH_MS = 500;

/** A new server opens its ports and answers the first calls before its workers use the processors to warm up. */
const WARM_UP_DELAY_MS = 300;

/** The phases of a worker, in this order; it can exit in each of them. */
type Phase = 'waiting' | 'starting' | 'ready' | 'listening' | 'draining';

/** A transport and the address on which it listens. */
interface Listener {
  readonly transport: Transport;
  readonly host: string;
  readonly port: number;
}

/** Runs a worker process until the primary ends it. `parseThread`: the entry file of parse threads. */
export function runWorker(parseThread: URL): void {
  new Worker(parseThread).run();
}

class Worker {
  readonly #parseThread: URL;
  readonly #link = new PrimaryLink();
  #phase: Phase = 'waiting';
  #services: HttpServices | undefined;
  #telemetry: Telemetry | undefined;
  #pool: ParsePool | undefined;
  #bodyBudget: BodyBudget | undefined;
  #doors: readonly Door[] = [];
  #listeners: readonly Listener[] = [];
  /** Why `--transport auto` uses node:http. */
  #fallback: string | undefined;
  #logger: ServiceLogger | undefined;
  /** Knows no secret before the start. */
  #redactor = new Redactor([]);
  #step: StepNote | undefined;
  #missingCredentials: () => readonly MissingCredential[] = () => [];
  #news: ServerNews = { mayBeReady: true, degraded: null, problems: [] };
  /** Undefined if cool-downs are off. */
  #coolDowns: CoolDowns | undefined;
  #lastRequestAt = 0;
  #beats = 0;
  #counted = -1;
  readonly #busyTime = new BusyTime();
  #requests = 0;
  #isWarmingUp = false;
  #callOutbox: CallOutbox | undefined;
  readonly #idleMemory = new IdleMemory(() => {
    this.#logger?.debug({}, 'the worker is idle: it collects its garbage');
    void collectGarbage();
  });
  /** Bodies of calls and streams since the last heartbeat. */
  #bodies = 0;

  constructor(parseThread: URL) {
    this.#parseThread = parseThread;
  }

  run(): void {
    // A terminal signals the whole process group, but only the primary ends a worker. When the primary is gone,
    // node:cluster ends the worker.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ignore);
    process.on('uncaughtException', (error) => this.#crashed(error, 'a bug: an uncaught exception ends this worker'));
    process.on('unhandledRejection', (error) => this.#logger?.error({ err: error }, 'a bug: an unhandled rejection'));
    this.#link.listen((message) => this.#take(message));
    this.#link.send({ type: 'hello' });
  }

  #take(message: PrimaryNotice): void {
    switch (message.type) {
      case 'start':
        this.#start(message).catch((error: unknown) => this.#fail(messageOf(error)));
        return;
      case 'listen':
        this.#listen().catch((error: unknown) => this.#fail(messageOf(error)));
        return;
      case 'report-start':
        this.#reportStart();
        return;
      case 'news':
        this.#hear(message.news);
        return;
      case 'cool-down':
        this.#coolDowns?.apply(message.change);
        return;
      case 'drain':
        this.#drain(message.timeoutMs);
        return;
      case 'hand-over-connections':
        this.#listeners[0]?.transport.handOver(message.count);
        return;
      case 'collect-metrics':
        this.#sendMetrics(message.id);
        return;
      case 'recall-units':
        this.#services?.limiter?.leases.recalled(message.limitId, message.recall);
        return;
      default:
        unreachable(message);
    }
  }

  #hear(news: Partial<ServerNews>): void {
    this.#news = { ...this.#news, ...news };
    const services = this.#services;
    if (services === undefined) return;
    const { degraded, mayBeReady, store } = this.#news;
    Object.assign(services.health, { ready: mayBeReady && this.#phase === 'listening', degraded, store });
    if (news.problems !== undefined) services.playground?.showProblems(news.problems);
    if (news.keyFile !== undefined) replaceKeys(services, news.keyFile);
  }

  async #start(start: StartMessage): Promise<void> {
    this.#phase = 'starting';
    this.#news = start.news;
    if (start.config.coolDown === 'on') {
      this.#coolDowns = new CoolDowns((change) => this.#link.send({ type: 'cool-down', change }), start.coolDowns);
    }
    this.#step = new StepNote(dirname(start.programPath), process.pid);
    const { config, programPath } = start;
    const loaded = loadProgram(programPath);
    if (!loaded.ok) {
      this.#fail(loaded.failure);
      return;
    }
    const program = loaded.value;
    this.#missingCredentials = () => missingCredentials(program, config.env);
    const redactor = new Redactor(config.secrets);
    this.#redactor = redactor;
    const logger = createLogger(config, { fields: { worker: start.number }, redactor });
    this.#logger = logger;
    this.#telemetry = await loadTelemetry(start, logger, redactor);
    const playground = config.playground ? await loadPlayground(start, program) : undefined;
    this.#doors = await loadDoors(start, program, logger);
    const limiter = await loadLimiter(config, this.#link, logger, () => this.#services?.metrics.limitFailed());
    const pool = new ParsePool({
      thread: this.#parseThread,
      programPath,
      onThreadError: (error) => logger.warn({ err: error }, 'a parse thread ended with an error'),
      onUnusable: (error) => this.#crashed(error, 'parse threads cannot be loaded, so this worker ends'),
    });
    this.#pool = pool;
    const services = createWorkerServices({
      config,
      program,
      version: start.version,
      link: this.#link,
      logger,
      redactor,
      pool,
      coolDowns: this.#coolDowns,
      playground,
      calls: this.#callSink(config),
      limiter,
      telemetry: this.#telemetry,
      connections: () => this.#connections,
      onBody: (functionName, bytes) => {
        this.#bodies += 1;
        this.#step?.begin(functionName, 'request', bytes);
      },
      onParse: (functionName, length) => this.#step?.begin(functionName, 'reply', length),
    });
    this.#services = services;
    this.#hear(this.#news);
    await this.#createListeners(start, services);
    this.#phase = 'ready';
    setInterval(() => this.#beat(), HEARTBEAT_MS);
    this.#link.send({ type: 'ready' });
    if (config.warmUp === 'on') void this.#warmUp(start, program, pool);
  }

  #callSink({ calls, callsContent, callsSample }: Config): HttpServices['calls'] {
    if (calls === 'off') return undefined;
    const link = this.#link;
    const outbox = new CallOutbox((message, sent) => link.sendNow(message, sent));
    this.#callOutbox = outbox;
    return {
      content: callsContent,
      sample: callsSample,
      add: (row) => outbox.add(row),
      addFeedback: (requestId, feedback) => {
        // The call can be one of those that wait.
        outbox.flush();
        return link.ask({ type: 'add-feedback', requestId, feedback });
      },
      query: (query) => link.ask({ type: 'query-calls', query }),
      saveTest: (seq, name) => link.ask({ type: 'save-test', seq, name }),
    };
  }

  /** Compiles the code of calls. A spare worker is warm before it serves; the first ones use the time between requests. */
  async #warmUp({ config, version }: StartMessage, program: Program, pool: ParsePool): Promise<void> {
    this.#isWarmingUp = true;
    await sleep(WARM_UP_DELAY_MS);
    try {
      const { warmUp } = await import('./warm-up.ts');
      const calls = await warmUp({
        config,
        program,
        version,
        pool,
        isQuiet: (forMs) =>
          (this.#services?.active.size ?? 0) === 0 && performance.now() - this.#lastRequestAt >= forMs,
        isOver: () => this.#phase === 'draining',
        // No other worker serves its port.
        createTransport: (options) =>
          createTransport(config.transport, { ...this.#transportOptions(config, options), sharedPort: undefined }),
      });
      this.#logger?.debug({ calls }, 'the worker is warm');
    } catch (error) {
      this.#logger?.warn({ err: error }, 'the warm-up failed: the first calls take longer');
    }
    this.#isWarmingUp = false;
  }

  async #listen(): Promise<void> {
    for (const { transport, host, port } of this.#listeners) await transport.listen(host, port);
    // A drain can have begun meanwhile.
    if (this.#phase !== 'ready' || this.#services === undefined) return;
    this.#phase = 'listening';
    this.#hear({});
    this.#link.send({ type: 'listening', transport: this.#listeners[0]?.transport.name ?? 'node' });
  }

  /** Logs at the start what would otherwise show with the first call. */
  #reportStart(): void {
    if (this.#fallback !== undefined) this.#logger?.info({ reason: this.#fallback }, 'the transport is node:http');
    for (const { client, variable, message } of this.#missingCredentials()) {
      this.#logger?.warn({ client, variable }, `calls of this client will fail: ${message}`);
    }
  }

  /** Creates the transports; they do not listen yet. */
  async #createListeners({ config, port }: StartMessage, services: HttpServices): Promise<void> {
    const { host, metricsPort } = config;
    const main = await this.#transport(services, this.#counting(createHandler(services, this.#doors)), config);
    this.#listeners = [{ transport: main, host, port }];
    if (metricsPort === undefined) return;
    const operations = await this.#transport(services, createOperationsHandler(services), config);
    this.#listeners = [...this.#listeners, { transport: operations, host, port: metricsPort }];
  }

  #transport(services: HttpServices, handler: RequestHandler, config: Config): Promise<Transport> {
    const reject = createReject(services.logger, services.redactor);
    return createTransport(config.transport, this.#transportOptions(config, { handler, reject }), (reason) => {
      this.#fallback = reason;
    });
  }

  #transportOptions(config: Config, parts: Pick<TransportOptions, 'handler' | 'reject'>): TransportOptions {
    return {
      ...parts,
      discardLimit: DISCARD_LIMIT,
      ...connectionLimits(),
      bodyBudget: (this.#bodyBudget ??= createBodyBudget(config)),
      maxUnreadBytes: MAX_UNREAD_BYTES,
      keepAliveTimeoutMs: config.keepAliveTimeoutMs,
      sharedPort: (host, port) => this.#link.ask({ type: 'share-port', host, port }),
    };
  }

  #counting(handler: RequestHandler): RequestHandler {
    return (request, response) => {
      this.#lastRequestAt = performance.now();
      this.#requests += 1;
      handler(request, response);
    };
  }

  get #connections(): number {
    return this.#listeners[0]?.transport.connections ?? 0;
  }

  #beat(): void {
    this.#step?.clear();
    saveCodeCache();
    const inFlight = this.#services?.active.size ?? 0;
    const rssBytes = residentBytes();
    const lagSeconds = this.#services?.metrics.lagSeconds ?? 0;
    const load = { connections: this.#connections, busy: this.#busyTime.take() };
    const failures = this.#services?.metrics.clientFailures.take() ?? [];
    const keys = this.#services?.authenticator.takeUsed() ?? [];
    this.#link.send({ type: 'heartbeat', inFlight, rssBytes, lagSeconds, load, failures, keys });
    this.#idleMemory.beat(inFlight === 0 && this.#bodies === 0 && !this.#isWarmingUp, rssBytes);
    this.#bodies = 0;
    this.#beats += 1;
    if (this.#beats % METRICS_EVERY !== 0 || this.#counted === this.#requests) return;
    this.#counted = this.#requests;
    this.#sendMetrics(0);
  }

  #sendMetrics(id: number): void {
    const metrics = this.#services?.metrics.data() ?? [];
    this.#link.send({ type: 'metrics', id, metrics });
  }

  #drain(timeoutMs: number): void {
    const services = this.#services;
    if (this.#phase === 'draining') return;
    this.#phase = 'draining';
    if (services === undefined) {
      this.#exit(0);
      return;
    }
    const transports = this.#listeners.map((listener) => listener.transport);
    const onSettled = (): void => this.#doors.forEach((door) => door.drain?.());
    void this.#finish(
      new WorkerDrain(services, transports, { lastRequestAt: () => this.#lastRequestAt, onSettled }),
      timeoutMs,
    );
  }

  /** Exits whatever goes wrong. */
  async #finish(drain: WorkerDrain, timeoutMs: number): Promise<void> {
    let cut = 0;
    try {
      const startedAt = performance.now();
      cut = await drain.run(timeoutMs);
      await this.#pool?.close();
      await this.#telemetry?.shutdown(Math.max(LEAST_FLUSH_MS, timeoutMs - (performance.now() - startedAt)));
      this.#sendMetrics(0);
    } catch (error) {
      this.#logger?.error({ err: error }, 'a bug: the drain of a worker failed');
    }
    this.#exit(cut);
  }

  #crashed(error: unknown, message: string): void {
    this.#logger?.error({ err: error }, message);
    if (this.#phase === 'listening') {
      this.#link.send({ type: 'failed', reason: this.#redactor.redact(messageOf(error)) });
      this.#drain(CRASH_DRAIN_MS);
    } else if (this.#phase !== 'draining') this.#fail(messageOf(error));
  }

  #fail(reason: string): void {
    this.#link.sendNow({ type: 'failed', reason: this.#redactor.redact(reason) }, () => process.exit(1));
  }

  #exit(cut: number): void {
    this.#logger?.flushSync();
    this.#callOutbox?.flush();
    this.#link.sendNow({ type: 'drained', cut }, () => process.exit(0));
  }
}

function ignore(): void {}

/** Interval of the checks whether everything is finished. */
const CHECK_MS = 25;

/**
 * An idle connection closes after this time without a request. A client under load would have sent one, and each answer of a
 * draining worker closes its connection anyway.
 */
const QUIET_MS = 1_000;

/**
 * Time between the end of accepting and the first answer that closes its connection. All workers stop accepting at about the
 * same time, and a client that reconnects at that moment could enter the queue of a listener that is about to close.
 */
const SETTLE_MS = 250;

/** Time for the last messages of a drain to leave the process. */
const FLUSH_MS = 250;

interface DrainParts {
  readonly lastRequestAt: () => number;
  /** Called once clients that connect again reach another worker. */
  readonly onSettled: () => void;
}

/** The end of a worker: accepts no more connections, finishes the requests in flight, and ends the rest as `draining`. */
class WorkerDrain {
  readonly #services: HttpServices;
  readonly #transports: readonly Transport[];
  readonly #parts: DrainParts;

  constructor(services: HttpServices, transports: readonly Transport[], parts: DrainParts) {
    this.#services = services;
    this.#transports = transports;
    this.#parts = parts;
  }

  /** Resolves with the number of requests that were cut, once none is left. */
  async run(timeoutMs: number): Promise<number> {
    const startedAt = performance.now();
    this.#services.health.ready = false;
    for (const transport of this.#transports) transport.stopAccepting();
    await this.#settle();
    for (const transport of this.#transports) transport.finishConnections();
    this.#parts.onSettled();
    while (!this.#isIdle(startedAt) && performance.now() - startedAt < timeoutMs) await sleep(CHECK_MS);
    const cut = await this.#cut();
    for (const transport of this.#transports) transport.close();
    await this.#services.runtime.close();
    return cut;
  }

  /** Returns early when there is no connection whose client could reconnect. */
  async #settle(): Promise<void> {
    const startedAt = performance.now();
    do await sleep(CHECK_MS);
    while (this.#connections > 0 && performance.now() - startedAt < SETTLE_MS);
  }

  get #connections(): number {
    return this.#transports[0]?.connections ?? 0;
  }

  #isIdle(startedAt: number): boolean {
    if (this.#services.active.size > 0 || this.#transports.some((transport) => transport.unsentAnswers > 0))
      return false;
    if (this.#connections === 0) return true;
    return performance.now() - Math.max(startedAt, this.#parts.lastRequestAt()) >= QUIET_MS;
  }

  async #cut(): Promise<number> {
    const { active, admission, logger } = this.#services;
    // No waiting call gets the slot of one that is ended here.
    admission.close();
    const late = active.list();
    for (const request of late) {
      try {
        request.drain();
      } catch (error) {
        // The others still get their last message.
        logger.error({ err: error }, 'a bug: a request could not be ended');
      }
    }
    if (late.length > 0) await sleep(FLUSH_MS);
    return late.length;
  }
}

/** Measures how busy the event loop of this process is. */
class BusyTime {
  #before = performance.eventLoopUtilization();

  /** The busy fraction of the time since the last call, from 0 to 1. */
  take(): number {
    const before = this.#before;
    this.#before = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(this.#before, before).utilization;
  }
}

// --- parts that most servers do not use: their code is loaded only if they are switched on ---------------------------

/** The interval at which a worker returns unused units. */
const SWEEP_MS = 1_000;

/** Loads the code of limits and creates the limiter of a worker; undefined without a key file. */
async function loadLimiter(
  { keyFile, store, workers }: Config,
  link: PrimaryLink,
  logger: Logger,
  onFailure: () => void,
): Promise<Limiter | undefined> {
  if (keyFile === undefined) return undefined;
  const [{ Leases }, { Limiter: Loaded }] = await Promise.all([
    import('../policy/leases.ts'),
    import('../policy/limiter.ts'),
  ]);
  const warn = minuteWarning(
    logger,
    'the primary does not count limits of callers; each worker keeps to its own share',
  );
  const leases = new Leases({
    workers,
    shared: store !== undefined,
    source: {
      take: (request) => link.ask({ type: 'take-units', request }),
      give: (units) => link.send({ type: 'give-units', units }),
    },
    onFailure: (error) => {
      onFailure();
      warn(error);
    },
  });
  setInterval(() => leases.sweep(), SWEEP_MS).unref();
  return new Loaded(leases, keyFile.defaultLimits);
}

/** Loads telemetry and the OpenTelemetry packages; undefined if it is off. */
async function loadTelemetry(
  { config, number, version }: StartMessage,
  logger: ServiceLogger,
  redactor: Redactor,
): Promise<Telemetry | undefined> {
  if (config.telemetry === undefined) return undefined;
  const { Telemetry: Loaded } = await import('../telemetry/telemetry.ts');
  return new Loaded(config.telemetry, { logger, version, worker: number, redact: (text) => redactor.redact(text) });
}

/** Loads the code of the doors that are on. */
async function loadDoors(
  { config, version }: StartMessage,
  program: Program,
  logger: Logger,
): Promise<readonly Door[]> {
  const doors: Door[] = [];
  if (config.openaiApi) doors.push(new (await import('./doors/openai/openai-door.ts')).OpenAiDoor(program));
  if (config.mcp)
    doors.push(new (await import('./doors/mcp/mcp-door.ts')).McpDoor(program, { config, version, logger }));
  return doors;
}

/** Loads the code and the files of the playground. */
const CALLS_OFF =
  'svc keeps no calls here. Start it with --calls sqlite:.svc/calls.db, on Node 22.13 or later or with the package better-sqlite3.';

async function loadPlayground({ config, savesTests, version }: StartMessage, program: Program): Promise<Playground> {
  const names = program.clients.map(({ name }) => name);
  const missing = missingCredentials(program, config.env, names).map(
    ({ client, variable }) => [client, variable] as const,
  );
  const { describeProgram, ProgramPlayground } = await import('./http/playground/playground.ts');
  const { clientRegistry, title } = config;
  const calls = config.calls === 'off' ? { off: CALLS_OFF } : { content: config.callsContent, canSave: savesTests };
  const facts = { title, version, clientRegistry, calls, doors: doorLinks(config), missing: new Map(missing) };
  return new ProgramPlayground(() => describeProgram(program, facts));
}
