import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { deepFreeze } from '../base/json.ts';
import type { Config } from '../config/config.ts';
import { createLogger } from '../logging/create-logger.ts';
import { Redactor } from '../logging/redactor.ts';
import { CoolDowns } from '../policy/cool-downs.ts';
import type { Program } from '../schema/program.ts';
import { createHandler, createReject } from './http/create-handler.ts';
import type { HttpServices } from './http/http-services.ts';
import type { Transport, TransportOptions } from './http/transport.ts';
import type { ParsePool } from './parse-pool.ts';
import { createWorkerServices, type WorkerLink } from './worker-services.ts';

/*
 * V8 compiles code as it runs: the first 10,000 calls of a process cost up to ten times the later ones. So each worker first makes calls
 * to itself, over a loopback socket of its own, of a program that comes with svc, to a model in the same process. These calls have
 * services of their own, so that none of them can reach a model, a metric, a log, a limit or a store.
 */

/** The content of dist/assets/warm-up.json. */
interface WarmUpProgram {
  readonly program: Program;
  /** The argument validators by function. */
  readonly validators: Readonly<Record<string, string>>;
  readonly calls: readonly WarmUpCall[];
  /** The answers of the model, with their heads. The client of the function number n has the number as its path. */
  readonly replies: readonly string[];
}

interface WarmUpCall {
  readonly path: string;
  readonly body: string;
}

/** The CPU time that one worker spends, in microseconds. */
const MAX_CPU_MICROS = 2_000_000;
/**
 * Services are created so often, and each set takes an equal part of the time. V8 compiles code for the very objects that it has seen as
 * long as there is only one of a kind, and would throw it away with the first call of a client.
 */
const SETS = 3;
const CONNECTIONS = 8;
/** The calls between two looks at the requests of others. */
const BURST = 64;
/** A worker that serves goes on after this long without a request. */
const QUIET_MS = 20;

export interface WarmUpOptions {
  readonly config: Config;
  readonly version: string;
  readonly pool: ParsePool;
  /** True if the worker has no request, and has had none for so many milliseconds. */
  readonly isQuiet: (forMs: number) => boolean;
  /** The end of the worker. */
  readonly isOver: () => boolean;
  readonly createTransport: (options: Pick<TransportOptions, 'handler' | 'reject'>) => Promise<Transport>;
}

/** Makes calls until the time is up. Resolves with their number; undefined in a run from sources, which has no program for it. */
export async function warmUp(options: WarmUpOptions): Promise<number | undefined> {
  const loaded = loadWarmUp();
  if (loaded === undefined) return undefined;
  const model = await listen(createServer((socket) => answerCalls(socket, loaded.replies)));
  const before = process.cpuUsage();
  let made = 0;
  try {
    for (let set = 1; set <= SETS && !options.isOver(); set += 1) {
      const until = (set * MAX_CPU_MICROS) / SETS;
      const isSpent = (): boolean => {
        const { user, system } = process.cpuUsage(before);
        return user + system > until;
      };
      made += await useServices(options, loaded, portOf(model), isSpent);
    }
  } finally {
    model.close();
  }
  return made;
}

async function useServices(
  options: WarmUpOptions,
  loaded: WarmUpProgram,
  modelPort: number,
  isSpent: () => boolean,
): Promise<number> {
  const services = createWarmUpServices(options, loaded, modelPort);
  const { logger, redactor, runtime } = services;
  const transport = await options.createTransport({
    handler: createHandler(services),
    reject: createReject(logger, redactor),
  });
  try {
    return await makeCalls(options, loaded.calls, await transport.listen('127.0.0.1', 0), isSpent);
  } finally {
    transport.close();
    await runtime.close();
  }
}

/** A build has the file beside its programs; a run from sources has none. */
function loadWarmUp(): WarmUpProgram | undefined {
  const here = import.meta.url;
  if (here.endsWith('.ts')) return undefined;
  const text = readFileSync(fileURLToPath(new URL('../assets/warm-up.json', here)), 'utf8');
  return deepFreeze(JSON.parse(text) as WarmUpProgram);
}

/** Services like those of the worker, of another program. */
function createWarmUpServices(
  { config, version, pool }: WarmUpOptions,
  { program, validators, replies }: WarmUpProgram,
  modelPort: number,
): HttpServices {
  const redactor = new Redactor([]);
  const services = createWorkerServices({
    config: ownConfig(config, modelPort, replies.length),
    program,
    version,
    link: quietLink(validators),
    logger: createLogger(config, { fields: { worker: 0 }, redactor, terminal: false, write: () => undefined }),
    redactor,
    pool,
    coolDowns: config.coolDown === 'on' ? new CoolDowns(() => undefined) : undefined,
    playground: undefined,
    limiter: undefined,
    telemetry: undefined,
    connections: () => 0,
    onBody: () => undefined,
    onParse: () => undefined,
  });
  Object.assign(services.health, { ready: true, degraded: null, store: undefined });
  return services;
}

/** The configuration of the server without its keys, path and variables. The clone has the shape of the original. */
function ownConfig(config: Config, modelPort: number, models: number): Config {
  const clone = JSON.parse(JSON.stringify(config)) as { -readonly [Name in keyof Config]: Config[Name] };
  clone.env = Object.fromEntries(
    Array.from({ length: models }, (_, index) => [
      `WARM_UP_MODEL_${index}`,
      `http://127.0.0.1:${modelPort}/${index}/v1`,
    ]),
  );
  if (clone.keyFile !== undefined) delete clone.keyFile;
  if (clone.apiKey !== undefined) delete clone.apiKey;
  if (clone.basePath !== '') clone.basePath = '';
  return clone;
}

/** The link of services that share nothing with other processes. */
function quietLink(validators: Readonly<Record<string, string>>): WorkerLink {
  return {
    send: () => undefined,
    ask: (question) => {
      const source = 'functionName' in question ? validators[question.functionName] : undefined;
      return source === undefined ? Promise.reject(new Error('a warm-up asks nobody')) : Promise.resolve(source);
    },
    claimAnswer: () => Promise.resolve({ kind: 'busy' }),
  };
}

// --- the model -------------------------------------------------------------------------------------------------------

async function listen(server: Server): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Not exclusive, workers would share the port, and answer each other.
    server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, resolve);
  });
  return server.unref();
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Answers each request whose body has arrived. */
function answerCalls(socket: Socket, texts: readonly string[]): void {
  const replies = texts.map((text) => Buffer.from(text));
  let text = '';
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (data: Buffer) => {
    text += data.toString('latin1');
    for (;;) {
      const head = text.indexOf('\r\n\r\n');
      const length = /content-length: *(\d+)/iu.exec(text.slice(0, Math.max(0, head)))?.[1];
      const end = head + 4 + Number(length);
      if (head < 0 || length === undefined || text.length < end) return;
      socket.write(replies[Number(/\/(\d+)\//u.exec(text)?.[1])] ?? '');
      text = text.slice(end);
    }
  });
}

// --- the callers -----------------------------------------------------------------------------------------------------

/** The headers of several clients. */
const HEADERS: readonly string[] = [
  'Host: localhost:2024\r\nAccept: */*\r\nContent-Type: application/json\r\n',
  'host: 10.0.0.1\r\nconnection: keep-alive\r\ncontent-type: application/json; charset=utf-8\r\naccept: application/json\r\naccept-encoding: gzip, br\r\nuser-agent: node\r\n',
  'Host: svc\r\nX-Request-Id: warm-up\r\nX-Forwarded-For: 10.0.0.2\r\nTraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\nUser-Agent: python-httpx\r\nContent-Type: application/json\r\n',
];

/** Returns the number of calls. */
async function makeCalls(
  { isQuiet, isOver }: WarmUpOptions,
  calls: readonly WarmUpCall[],
  port: number,
  isSpent: () => boolean,
): Promise<number> {
  const requests = HEADERS.flatMap((headers) =>
    calls.map(({ path, body }) =>
      Buffer.from(`POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    ),
  );
  const callers = Array.from({ length: CONNECTIONS }, () => new WarmUpCaller(port));
  let made = 0;
  while (!isOver() && !isSpent()) {
    if (!isQuiet(QUIET_MS)) {
      await sleep(QUIET_MS);
      continue;
    }
    await Promise.all(
      callers.map(async (caller, index) => {
        for (let at = index; at < BURST; at += CONNECTIONS) await caller.call(requests[(made + at) % requests.length]);
      }),
    );
    made += BURST;
  }
  for (const caller of callers) caller.close();
  return made;
}

/** One connection that makes one call at a time. */
class WarmUpCaller {
  readonly #socket: Socket;
  #text = '';
  #ended: () => void = () => undefined;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.#socket.on('data', (data: Buffer) => this.#take(data.toString('latin1')));
    this.#socket.on('error', () => this.#ended());
    this.#socket.on('close', () => this.#ended());
  }

  /** Resolves at the end of the answer, or of the connection. */
  call(request: Buffer | undefined): Promise<void> {
    if (request === undefined || this.#socket.destroyed) return Promise.resolve();
    this.#text = '';
    return new Promise((resolve) => {
      this.#ended = resolve;
      this.#socket.write(request);
    });
  }

  #take(text: string): void {
    this.#text += text;
    const head = this.#text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = /content-length: *(\d+)/iu.exec(this.#text.slice(0, head))?.[1];
    const isComplete =
      length === undefined ? this.#text.endsWith('0\r\n\r\n') : this.#text.length >= head + 4 + Number(length);
    if (isComplete) this.#ended();
  }

  close(): void {
    this.#socket.destroy();
  }
}
