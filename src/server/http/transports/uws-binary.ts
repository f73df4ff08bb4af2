import type * as UwsModule from 'uWebSockets.js';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { messageOf } from '../../../base/invariant.ts';
import type { Transport, TransportOptions } from '../transport.ts';

export type Uws = typeof UwsModule;

/**
 * True on Node 20 and 22: their binaries, which svc has (.build/programs.mjs), pass the suites of tests for transports. Any other binary, which
 * an operator can add, is tested when a process loads it.
 */
export const IS_TESTED = ['115', '127'].includes(process.versions.modules);

export async function loadUws(): Promise<Uws> {
  try {
    return await import('uWebSockets.js');
  } catch (error) {
    throw new Error(`The binary of uWebSockets.js does not load in ${HERE}: ${reasonOf(error)}.`, { cause: error });
  }
}

export const HERE = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;

/** The library states the error of the operating system in the last line of its own. */
function reasonOf(error: unknown): string {
  const text = messageOf(error);
  const line = text.split('\n').find((each) => each.startsWith('Error: ')) ?? text;
  if (!line.includes('Cannot find module')) return line.replace(/^Error: /u, '');
  const { platform, arch, versions } = process;
  if (!IS_TESTED || platform !== 'linux' || !['x64', 'arm64'].includes(arch) || !hasGlibc())
    return 'svc has it for Node 20 and 22 on Linux with glibc';
  const name = `svc-functions-uws-${platform}-${arch}-${versions.modules}`;
  return `the optional package ${name} is not installed; install svc with this version of Node and without --omit=optional`;
}

function hasGlibc(): boolean {
  const { header } = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}

/** Ends a self-test that hangs; each exchange takes less than a millisecond. */
const LIMIT_MS = 2_000;

/** What the test sets of a transport; the rest does not matter to it. */
type Parts = Pick<TransportOptions, 'handler' | 'reject'>;

/** Bytes of a client on one connection, and all that it must receive. */
interface Exchange {
  readonly name: string;
  /** Each write follows the answer to the one before. */
  readonly writes: readonly string[];
  readonly answer: RegExp;
  /** The server must end the connection. */
  readonly ends?: true;
}

const HOST = 'Host: localhost\r\n';
const OK = 'HTTP/1\\.1 200 OK\r\n(?:[^\r\n]+\r\n)+\r\n';

const EXCHANGES: readonly Exchange[] = [
  { name: 'a GET', writes: [`GET / HTTP/1.1\r\n${HOST}\r\n`], answer: new RegExp(`^${OK}body$`) },
  {
    name: 'a POST, then a GET',
    writes: [`POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\n{}\n`, `GET / HTTP/1.1\r\n${HOST}\r\n`],
    answer: new RegExp(`^${OK}body${OK}body$`),
  },
  // A smuggled request would be the second one (see `TurnClock`).
  {
    name: 'two requests in one packet',
    writes: [`GET / HTTP/1.1\r\n${HOST}\r\n`.repeat(2)],
    answer: /^$/,
    ends: true,
  },
  {
    name: 'two lengths of a body',
    writes: [`POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
    answer: /^HTTP\/1\.1 400 Bad Request\r\n(?:[^\r\n]+\r\n)+\r\nbad_request$/,
    ends: true,
  },
  // svc ends the connection of a request without a length.
  { name: 'a HEAD', writes: [`HEAD / HTTP/1.1\r\n${HOST}\r\n`], answer: new RegExp(`^${OK}$`), ends: true },
];

/**
 * Serves a few requests on loopback; returns the first one that a transport on uWebSockets.js does not serve as the guards of svc
 * need it, and undefined if there is none. Takes a few milliseconds.
 */
export async function failedExchange(create: (parts: Parts) => Transport): Promise<string | undefined> {
  const left = new Signal();
  const waits = new Signal();
  const transport = create({
    handler: (request, response) => {
      if (request.path === '/wait') {
        response.onAborted(left.give);
        waits.give();
      } else request.readBody(100, ({ kind }) => response.send(200, [], kind));
    },
    reject: ({ status, code }) => ({ status, headers: [], body: code }),
  });
  let thrown: Error | undefined;
  // Otherwise, an exception in a callback of the library would end the process.
  process.setUncaughtExceptionCaptureCallback((error) => (thrown ??= error));
  const port = await transport.listen('127.0.0.1', 0);
  try {
    for (const exchange of EXCHANGES) {
      if (!(await isServed(port, exchange))) return thrown === undefined ? exchange.name : thrown.message;
    }
    const client = connect(port, '127.0.0.1');
    client.on('error', () => {});
    client.write(`GET /wait HTTP/1.1\r\n${HOST}\r\n`);
    await within(waits.given);
    client.resetAndDestroy();
    await within(left.given);
    return left.isGiven ? undefined : 'a client that leaves';
  } finally {
    transport.close();
    process.setUncaughtExceptionCaptureCallback(null);
  }
}

class Signal {
  isGiven = false;
  readonly given: Promise<void>;
  give: () => void = () => {};

  constructor() {
    this.given = new Promise((resolve) => {
      this.give = () => {
        this.isGiven = true;
        resolve();
      };
    });
  }
}

async function isServed(port: number, { writes, answer, ends }: Exchange): Promise<boolean> {
  const client = connect(port, '127.0.0.1');
  const rest = [...writes];
  let text = '';
  const read = new Promise<void>((resolve) => {
    client.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const next = text.endsWith('body') ? rest.shift() : undefined;
      if (next !== undefined) client.write(next);
      else if (ends !== true && answer.test(text)) resolve();
    });
  });
  client.on('error', () => {});
  client.write(rest.shift() ?? '');
  await within(Promise.race([read, closeOf(client)]));
  const isRight = answer.test(text) && (ends !== true || client.closed);
  client.destroy();
  return isRight;
}

async function closeOf(client: Socket): Promise<void> {
  if (!client.closed) await once(client, 'close');
}

/** Waits for the promise, but not for longer than the limit. */
async function within(promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LIMIT_MS);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}
