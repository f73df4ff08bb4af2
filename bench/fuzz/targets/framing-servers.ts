import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { chatCompletion, startFakeProvider, status, type FakeProvider } from '../../../test/support/fake-provider.ts';
import { childrenOf } from '../../../test/support/load.ts';
import { end, freePort, start, untilReady } from '../../child-process.ts';
import { ROOT } from '../../sides.ts';
import { ID } from './http-grammar.ts';

const NGINX = '/usr/sbin/nginx';

/** Answers that only the programs behind nginx send: without it, nginx refused the request. */
const FROM_BEHIND = 'x-behind: 1';

/** One answer on a connection. */
interface Answer {
  readonly status: number;
  /** A handler answered: the request passed the framing guard, or nginx. */
  readonly routed: boolean;
}

/** The outcome of the requests of one connection. */
export interface Verdict {
  readonly answers: readonly Answer[];
  /** The names in the calls that ran, sorted. */
  readonly ran: readonly string[];
}

interface Parts {
  readonly child: ChildProcess;
  readonly port: number;
  readonly folder: string;
  readonly model: FakeProvider;
}

/** A server that reads HTTP, and the record of the calls that it ran. */
export class FramingServer {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #folder: string;
  readonly #model: FakeProvider;
  readonly #ran = new Map<string, string[]>();
  readonly #workers: readonly number[];

  static async svc(transport: 'uws' | 'node'): Promise<FramingServer> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-fuzz-'));
    writeFileSync(join(folder, 'main.svc'), DEFINITIONS);
    const [model, port] = [await startFakeProvider(), await freePort()];
    const flags = ['--from', folder, '--port', String(port), '--no-dotenv', '--log-level', 'off', '--workers', '2'];
    const child = start({
      program: process.execPath,
      args: [join(ROOT, 'dist/bin/svc.js'), 'serve', ...flags, '--transport', transport],
      env: { PROVIDER_URL: `${model.url}/v1` },
    });
    await untilReady(child, `http://127.0.0.1:${port}/readyz`);
    // Two workers and a spare one.
    while (childrenOf(child.pid ?? 0).length < 3) await sleep(20);
    return new FramingServer(transport, { child, port, folder, model });
  }

  /** Returns undefined where nginx is not installed. */
  static async nginx(): Promise<FramingServer | undefined> {
    if (!existsSync(NGINX)) return undefined;
    const folder = mkdtempSync(join(tmpdir(), 'svc-fuzz-nginx-'));
    const [model, port] = [await startFakeProvider(), await freePort()];
    const text = CONFIGURATION.replaceAll('FOLDER', folder)
      .replace('LISTEN', `127.0.0.1:${port}`)
      .replace('BEHIND', `127.0.0.1:${model.port}`);
    writeFileSync(join(folder, 'nginx.conf'), text);
    const child = start({ program: NGINX, args: ['-c', join(folder, 'nginx.conf')] });
    await untilReady(child, `http://127.0.0.1:${port}/readyz`);
    return new FramingServer('nginx', { child, port, folder, model });
  }

  private constructor(name: string, parts: Parts) {
    this.name = name;
    this.#child = parts.child;
    this.#port = parts.port;
    this.#folder = parts.folder;
    this.#model = parts.model;
    this.#workers = childrenOf(parts.child.pid ?? 0);
    this.#model.answer((request, wire) => {
      // svc asks its model for each call; nginx passes on the calls themselves.
      const isCall = /^(?:\/v1\/chat\/completions|(?:\w+:\/\/[^/]*)?\/call\/Hi(?:\?.*)?)$/u.test(request.path);
      const [call, id = ''] = /(\d{6})-r\d+/u.exec(request.body) ?? [];
      const isRun = isCall && request.method === 'POST' && request.json !== undefined;
      if (isRun && call !== undefined) this.#ran.set(id, [...(this.#ran.get(id) ?? []), call]);
      // Answers to HEAD have no body.
      if (request.method === 'HEAD') wire.write(`HTTP/1.1 200 OK\r\n${FROM_BEHIND}\r\nContent-Length: 0\r\n\r\n`);
      else return status(200, chatCompletion('ok'), { 'x-behind': '1' })(request, wire);
    });
  }

  /** Sends the requests of an input, waits until nothing happens for `quietMs`, and sends one more request. */
  async send(requests: string, { id, writes, quietMs }: Sending): Promise<Verdict> {
    const socket = connect(this.#port, '127.0.0.1').setNoDelay(true);
    const received: Buffer[] = [];
    let lastAt = performance.now();
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        received.push(data);
        lastAt = performance.now();
      });
    const closed = once(socket, 'close');
    await Promise.race([once(socket, 'connect'), closed]);
    const quiet = async (): Promise<void> => {
      for (lastAt = performance.now(); !socket.destroyed && performance.now() - lastAt < quietMs;) await sleep(5);
    };
    const bytes = Buffer.from(requests.replaceAll(ID, id), 'latin1');
    for (let at = 0, count = 0; at < bytes.length && !socket.destroyed; count += 1) {
      const length =
        count > 60 ? bytes.length : Math.max(1, Math.trunc(writes[count % writes.length] ?? bytes.length) || 1);
      socket.write(bytes.subarray(at, at + length));
      at += length;
      await turn();
    }
    await quiet();
    if (!socket.destroyed) socket.write(`GET /none/${id}-end HTTP/1.1\r\nHost: x\r\n\r\n`);
    await quiet();
    socket.destroy();
    const ran = (this.#ran.get(id) ?? []).toSorted();
    this.#ran.delete(id);
    this.#model.clear();
    return { ran, answers: answersIn(Buffer.concat(received).toString('latin1'), this.name === 'nginx') };
  }

  /** Returns undefined if the server answers a plain GET and its workers are the same processes as at the start. */
  async harm(): Promise<string | undefined> {
    const outcome = await fetch(`http://127.0.0.1:${this.#port}/livez`).then(
      async (answer) => (await answer.arrayBuffer(), answer.status),
      (error: unknown) => String(error),
    );
    if (outcome !== 200) return `${this.name} answers a plain GET with ${outcome}`;
    const workers = childrenOf(this.#child.pid ?? 0);
    return workers.join() === this.#workers.join() ? undefined : `${this.name} has other workers: ${workers.join()}`;
  }

  async close(): Promise<void> {
    await end(this.#child);
    await this.#model.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface Sending {
  /** Six digits. */
  readonly id: string;
  readonly writes: readonly number[];
  readonly quietMs: number;
}

/** Codes of svc for requests that no handler receives. */
const REFUSALS = /"error":"(?:bad_request|headers_too_large|not_implemented|request_timeout)"/u;

function answersIn(text: string, isNginx: boolean): readonly Answer[] {
  // A body of an answer never contains the start of an answer.
  const parts = text.split(/(?=HTTP\/1\.[01] \d{3} )/u).filter((part) => /^HTTP\/1\.[01] [2-5]/u.test(part));
  return parts.map((part) => {
    const code = Number(part.slice(9, 12));
    const head = part.toLowerCase();
    // Pages of uWebSockets.js have no request id, and an answer to HEAD shows only its status.
    const isOfSvc = head.includes('x-request-id:') && !REFUSALS.test(part);
    const isRefusedHead = part.endsWith('\r\n\r\n') && [400, 408, 431, 501].includes(code);
    return { status: code, routed: isNginx ? head.includes(FROM_BEHIND) : isOfSvc && !isRefusedHead };
  });
}

const DEFINITIONS = `
client<llm> Model {
  provider openai-generic
  options {
    model m
    base_url env.PROVIDER_URL
  }
}
function Hi(name: string) -> string {
  client Model
  prompt #"{{ name }}"#
}
`;

const CONFIGURATION = `worker_processes 1;
daemon off;
pid FOLDER/nginx.pid;
error_log FOLDER/error.log crit;
events {
  worker_connections 1024;
}
http {
  access_log off;
  client_body_temp_path FOLDER/body;
  proxy_temp_path FOLDER/proxy;
  fastcgi_temp_path FOLDER/fastcgi;
  uwsgi_temp_path FOLDER/uwsgi;
  scgi_temp_path FOLDER/scgi;
  client_max_body_size 10m;
  client_body_buffer_size 1m;
  large_client_header_buffers 4 16k;
  server {
    listen LISTEN;
    keepalive_requests 1000000;
    location / {
      proxy_pass http://BEHIND;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }
  }
}
`;
