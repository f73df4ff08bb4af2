import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { deepFreeze } from '../base/json.ts';
import type { Config } from '../config/config.ts';
import { createLogger } from '../logging/create-logger.ts';
import { Redactor } from '../logging/redactor.ts';
import { CoolDowns } from '../policy/cool-downs.ts';
import { loadHttp2 } from '../runtime/model/http/http2-session.ts';
import { HTTP_PROVIDERS } from '../runtime/model/providers/providers.ts';
import { resolveOptions } from '../runtime/model/client-options.ts';
import { clientsOfFiles } from '../runtime/model/strategies/client-plan.ts';
import type { Program } from '../schema/program.ts';
import type { Provider } from '../schema/providers/providers.ts';
import { createHandler, createReject } from './http/create-handler.ts';
import type { HttpServices } from './http/http-services.ts';
import type { Transport, TransportOptions } from './http/transport.ts';
import type { ParsePool } from './parse-pool.ts';
import { createWorkerServices, type WorkerLink, type WorkerParts } from './worker-services.ts';

/*
 * V8 compiles code as it runs: the first 10,000 calls of a process cost up to ten times the later ones. So each worker first makes calls
 * to itself, over a loopback socket of its own, of a program that comes with svc, to a model in the same process. These calls have
 * services of their own, so that none of them can reach a model, a metric, a log, a limit or a store.
 */

/** The content of a file of dist/assets/warm-up. */
interface WarmUpProgram {
  readonly program: Program;
  /** The argument validators by function. */
  readonly validators: Readonly<Record<string, string>>;
  readonly calls: readonly WarmUpCall[];
  /** The answers of the model. The client of the function number n has the number as its path. */
  readonly replies: readonly WarmUpReply[];
}

interface WarmUpReply {
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body: string;
}

/** What a model is called with. */
interface WarmUpWire {
  /** The wire format: the name of a file of dist/assets/warm-up. */
  readonly format: string;
  readonly version: '1.1' | '2';
}

interface WarmUpCall {
  readonly path: string;
  readonly body: string;
}

/**
 * The CPU time that one worker spends, in microseconds. The first 3,000 calls of a server with two workers cost 3.4 times the later ones after 2 s,
 * 2.1 times after 3 s, and 1.7 times after 4 s.
 */
const MAX_CPU_MICROS = 4_000_000;
/**
 * Services are created so often. V8 compiles code for the very objects that it has seen as long as there is only one of a kind, and would throw it
 * away with the first call of a client. So all but the last ones serve each request once, which is too little to be compiled.
 */
const SETS = 3;
const CONNECTIONS = 8;
/** The compiler is done if it uses less than a quarter of this time. */
const REST_MS = 4;
/** A worker that serves goes on after this long without a request. */
const QUIET_MS = 20;

export interface WarmUpOptions {
  readonly config: Config;
  /** The program of the worker: the warm-up uses its wire formats and versions of HTTP. */
  readonly program: Pick<Program, 'clients' | 'functions'>;
  readonly version: string;
  readonly pool: ParsePool;
  /** True if the worker has no request, and has had none for so many milliseconds. */
  readonly isQuiet: (forMs: number) => boolean;
  /** The end of the worker. */
  readonly isOver: () => boolean;
  readonly createTransport: (options: Pick<TransportOptions, 'handler' | 'reject'>) => Promise<Transport>;
}

/** Makes calls until the time is up. Resolves with the number of answers; undefined in a run from sources, which has no programs for it. */
export async function warmUp(options: WarmUpOptions): Promise<number | undefined> {
  if (import.meta.url.endsWith('.ts')) return undefined;
  const stages = await Promise.all(wiresOf(options.program, options.config.env).map(stageOf));
  const before = process.cpuUsage();
  let made = 0;
  try {
    for (let set = 1; set <= SETS && !options.isOver(); set += 1) {
      const isSpent = (): boolean => set < SETS || microsSince(before) > MAX_CPU_MICROS;
      const counts = await Promise.all(stages.map((stage) => useServices(options, stage, set, isSpent)));
      made += counts.reduce((sum, count) => sum + count, 0);
    }
  } finally {
    for (const { model } of stages) model.close();
  }
  return made;
}

/** The CPU time of this process since then. */
function microsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** A program, and the model that it calls. */
interface Stage {
  readonly loaded: WarmUpProgram;
  readonly version: WarmUpWire['version'];
  readonly model: Server;
}

async function stageOf({ format, version }: WarmUpWire): Promise<Stage> {
  const text = readFileSync(fileURLToPath(new URL(`../assets/warm-up/${format}.json`, import.meta.url)), 'utf8');
  const loaded = deepFreeze(JSON.parse(text) as WarmUpProgram);
  const model = version === '2' ? http2Model(loaded.replies) : http1Model(loaded.replies);
  return { loaded, version, model: await listen(model) };
}

/** Providers whose wire format is another than OpenAI's chat completions. That of Bedrock has no program yet. */
const FORMATS: Readonly<Partial<Record<Provider, string>>> = {
  'openai-responses': 'openai-responses',
  anthropic: 'anthropic',
  'google-ai': 'google-ai',
  'vertex-ai': 'google-ai',
};

/** More would share the time. */
const MAX_WIRES = 2;

/** What most clients of a program use. */
export function wiresOf(
  program: WarmUpOptions['program'],
  env: Readonly<Record<string, string>>,
): readonly WarmUpWire[] {
  const wires = clientsOfFiles(program)
    .clients.filter(({ provider }) => HTTP_PROVIDERS[provider] !== undefined)
    .map(({ provider, options }): WarmUpWire => {
      const { values } = resolveOptions(options, { server: env });
      const baseUrl = values.get('base_url') ?? (provider === 'ollama' ? 'http:' : '');
      const isPlain = typeof baseUrl === 'string' && /^http:/iu.test(baseUrl);
      return { format: FORMATS[provider] ?? 'openai-generic', version: isPlain ? '1.1' : '2' };
    });
  const counts = new Map<string, { wire: WarmUpWire; clients: number }>();
  for (const wire of wires) {
    const key = `${wire.format} ${wire.version}`;
    counts.set(key, { wire, clients: (counts.get(key)?.clients ?? 0) + 1 });
  }
  const most = [...counts.values()].toSorted((a, b) => b.clients - a.clients).map(({ wire }) => wire);
  return most.length === 0 ? [{ format: 'openai-generic', version: '2' }] : most.slice(0, MAX_WIRES);
}

async function useServices(
  options: WarmUpOptions,
  { loaded, version, model }: Stage,
  set: number,
  isSpent: () => boolean,
): Promise<number> {
  const env = {
    WARM_UP_HTTP: version,
    ...Object.fromEntries(
      loaded.replies.map((_, index) => [`WARM_UP_MODEL_${index}`, `http://127.0.0.1:${portOf(model)}/${index}/v1`]),
    ),
  };
  const services = createWarmUpServices(options, loaded, env, set % 2 === 0 ? QUIET : ALSO_QUIET);
  const { logger, redactor, runtime } = services;
  const handler = createHandler(services);
  const transport = await options.createTransport({
    handler: set % 2 === 0 ? handler : (request, response) => handler(request, response),
    reject: createReject(logger, redactor),
  });
  try {
    return await makeCalls(options, loaded.calls, await transport.listen('127.0.0.1', 0), isSpent);
  } finally {
    transport.close();
    await runtime.close();
  }
}

type Listeners = Pick<WorkerParts, 'onBody' | 'onParse'>;

/** Two of each kind: V8 would build the only one into the code of its caller. */
const QUIET: Listeners = { onBody: () => undefined, onParse: () => undefined };
const ALSO_QUIET: Listeners = { onBody: () => undefined, onParse: () => undefined };

/** Services like those of the worker, of another program. */
function createWarmUpServices(
  { config, version, pool }: WarmUpOptions,
  { program, validators }: WarmUpProgram,
  env: Config['env'],
  listeners: Listeners,
): HttpServices {
  const redactor = new Redactor([]);
  const services = createWorkerServices({
    config: ownConfig(config, env),
    program,
    version,
    link: quietLink(validators),
    logger: createLogger(config, { fields: { worker: 0 }, redactor, terminal: false, write: () => undefined }),
    redactor,
    pool,
    coolDowns: config.coolDown === 'on' ? new CoolDowns(() => undefined) : undefined,
    playground: undefined,
    calls: undefined,
    limiter: undefined,
    telemetry: undefined,
    connections: () => 0,
    onBody: listeners.onBody,
    onParse: listeners.onParse,
  });
  Object.assign(services.health, { ready: true, degraded: null, store: undefined });
  return services;
}

/** The configuration of the server without its keys, path and variables. The clone has the shape of the original. */
function ownConfig(config: Config, env: Config['env']): Config {
  const clone = JSON.parse(JSON.stringify(config)) as { -readonly [Name in keyof Config]: Config[Name] };
  clone.env = env;
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

/** The path of a request contains the number of its client. */
const CLIENT_IN_PATH = /\/(\d+)\//u;

/** Answers each request whose body has arrived. */
function http1Model(replies: readonly WarmUpReply[]): Server {
  const answers = replies.map(({ headers, body }) => {
    const lines = [...headers, ['content-length', Buffer.byteLength(body)] as const].map((pair) => pair.join(': '));
    return Buffer.from(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  });
  return createServer((socket) => {
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
        socket.write(answers[Number(CLIENT_IN_PATH.exec(text)?.[1])] ?? '');
        text = text.slice(end);
      }
    });
  });
}

/** Speaks HTTP/2 from the first byte, without TLS. */
function http2Model(replies: readonly WarmUpReply[]): Server {
  const server = loadHttp2().createServer();
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, { ':path': path = '' }) => {
    stream.on('error', () => stream.destroy());
    stream.resume().on('end', () => {
      const { headers = [], body = '' } = replies[Number(CLIENT_IN_PATH.exec(path)?.[1])] ?? {};
      stream.respond({
        ':status': 200,
        ...Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
      });
      stream.end(body);
    });
  });
  return server;
}

// --- the callers -----------------------------------------------------------------------------------------------------

/** The headers of several clients. */
const HEADERS: readonly string[] = [
  'Host: localhost:2024\r\nAccept: */*\r\nContent-Type: application/json\r\n',
  'host: 10.0.0.1\r\nconnection: keep-alive\r\ncontent-type: application/json; charset=utf-8\r\naccept: application/json\r\naccept-encoding: gzip, br\r\nuser-agent: node\r\n',
  'Host: svc\r\nX-Request-Id: warm-up\r\nX-Forwarded-For: 10.0.0.2\r\nTraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\nUser-Agent: python-httpx\r\nContent-Type: application/json\r\n',
];

/** Makes each call at least once, until the time is spent. Returns the number of calls that were answered with 200. */
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
  let answered = 0;
  do {
    while (!isQuiet(QUIET_MS) && !isOver()) await sleep(QUIET_MS);
    await Promise.all(
      callers.map(async (caller, index) => {
        for (let at = index; at < requests.length && !isOver(); at += CONNECTIONS) {
          if (await caller.call(requests[at])) answered += 1;
        }
      }),
    );
    await compiled();
  } while (!isOver() && !isSpent());
  for (const caller of callers) caller.close();
  return answered;
}

/** Resolves when V8 has compiled what the last calls made hot. Calls meanwhile would still run the slow code. */
async function compiled(): Promise<void> {
  for (let used = REST_MS; used > REST_MS / 4;) {
    const before = process.cpuUsage();
    await sleep(REST_MS);
    used = microsSince(before) / 1_000;
  }
}

/** One connection that makes one call at a time. */
class WarmUpCaller {
  readonly #socket: Socket;
  #text = '';
  #ended: (ok: boolean) => void = () => undefined;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.#socket.on('data', (data: Buffer) => this.#take(data.toString('latin1')));
    this.#socket.on('error', () => this.#ended(false));
    this.#socket.on('close', () => this.#ended(false));
  }

  /** Resolves at the end of the answer, with whether its status is 200, or of the connection. */
  call(request: Buffer | undefined): Promise<boolean> {
    if (request === undefined || this.#socket.destroyed) return Promise.resolve(false);
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
    if (isComplete) this.#ended(this.#text.startsWith('HTTP/1.1 200'));
  }

  close(): void {
    this.#socket.destroy();
  }
}
