import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { RawConnection } from '../../server/support/raw-connection.ts';
import { startFakeProvider, type FakeProvider } from '../../support/fake-provider.ts';
import { HI_FUNCTION } from '../../support/hi-function.ts';
import { childrenOf, waitUntil } from '../../support/load.ts';
import { startServer, type RunningServer, type ServerOptions } from '../../support/running-server.ts';
import type { TransportName } from '../../server/support/transports.ts';

/** Two workers that serve, and a spare one. */
const WORKERS = 2;
const PROCESSES = WORKERS + 1;

/** The definitions of the server, its flags and its environment. Without files, it serves the function `Hi`. */
export type Setup = Pick<ServerOptions, 'files' | 'from' | 'flags' | 'env' | 'onSpawn'>;

/** A function that returns the text of the model as it is. */
export const TELL_FUNCTION = `
client<llm> Model {
  provider openai-generic
  options {
    model large
    base_url env.PROVIDER_URL
  }
}
function Tell(topic: string) -> string {
  client Model
  prompt #"{{ topic }}"#
}
`;

/** The memory of a worker process in megabytes. */
export interface WorkerMemory {
  readonly pid: number;
  readonly now: number;
  /** The most since the attack began. */
  readonly peak: number;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A running server with two workers, and a model of its own at `env.PROVIDER_URL`. */
export class AttackedServer {
  readonly transport: TransportName;
  readonly model: FakeProvider;
  readonly #server: RunningServer;
  /** Process ids at the start of the attack. */
  readonly #pids: readonly number[];
  readonly #connections: RawConnection[] = [];

  static async start(transport: TransportName, setup: Setup): Promise<AttackedServer> {
    const model = await startFakeProvider();
    const flags = ['--workers', String(WORKERS), '--transport', transport, ...(setup.flags ?? [])];
    const env = { PROVIDER_URL: `${model.url}/v1`, ...setup.env };
    const server = await startServer({ files: { 'main.svc': HI_FUNCTION }, ...setup, flags, env });
    await waitUntil('the workers and the spare one', () => childrenOf(pidOf(server)).length === PROCESSES);
    return new AttackedServer(transport, model, server);
  }

  private constructor(transport: TransportName, model: FakeProvider, server: RunningServer) {
    this.transport = transport;
    this.model = model;
    this.#server = server;
    this.#pids = childrenOf(pidOf(server));
    this.#pids.forEach(resetPeak);
  }

  get port(): number {
    return this.#server.port;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Everything that the server has logged so far. */
  get output(): string {
    return this.#server.output();
  }

  /** The memory of each worker, the spare one included. */
  get memory(): readonly WorkerMemory[] {
    return childrenOf(pidOf(this.#server)).map((pid) => memoryOf(pid));
  }

  /** The peak memory of one worker, in megabytes, since the attack began. */
  get peakMemory(): number {
    return Math.max(...this.memory.map(({ peak }) => peak));
  }

  /** Opens a TCP connection, which ends with the attack. */
  connect(): RawConnection {
    const connection = new RawConnection(this.port);
    this.#connections.push(connection);
    return connection;
  }

  /** Sends a request on a connection of its own, so that either worker can receive it. Rejects if no complete answer arrives. */
  ask(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const ofBody = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': byteLength(text) };
    const options = { method, agent: new Agent(), headers: { ...ofBody, ...headers } };
    return new Promise((resolve, reject) => {
      const sent = request(`${this.url}${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      });
      sent.on('error', reject);
      sent.end(text);
    });
  }

  /** Calls a function. */
  call(name: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer> {
    return this.ask('POST', `/call/${name}`, body, headers);
  }

  /** The sum of all series of a metric, over all workers. */
  async metric(name: string): Promise<number> {
    const { body } = await this.ask('GET', '/metrics');
    const lines = body.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    if (lines.length === 0) throw new Error(`there is no metric "${name}"`);
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /**
   * Returns the harm that the attack did; empty if the workers are the same processes as at the start of the attack, and they
   * answer a plain GET.
   */
  async harm(): Promise<readonly string[]> {
    const found: string[] = [];
    const pids = childrenOf(pidOf(this.#server));
    if (pids.join() !== this.#pids.join()) {
      found.push(`the workers were ${this.#pids.join()} and are ${pids.join()}`, this.output.slice(-4_000));
    }
    for (const probe of ['/livez', '/readyz']) {
      const { status, body } = await this.ask('GET', probe);
      if (status !== 200) found.push(`GET ${probe} answers ${status}: ${body}`);
    }
    return found;
  }

  /** Ends the connections, the server and the model. */
  async end(): Promise<void> {
    for (const connection of this.#connections) connection.end();
    await this.#server.stop('SIGKILL');
    await this.model.close();
  }
}

function pidOf({ child }: RunningServer): number {
  if (child.pid === undefined) throw new Error('the server has no process id');
  return child.pid;
}

function byteLength(text: string): string {
  return String(Buffer.byteLength(text));
}

/** Lets the kernel record the peak from now on (proc(5), `clear_refs`). */
function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function memoryOf(pid: number): WorkerMemory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'mu').exec(text)?.[1]) / 1024;
  return { pid, now: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}
