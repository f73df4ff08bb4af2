import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { waitUntil } from '../../support/load.ts';
import { temporaryFolder } from '../../support/running-server.ts';

/** A real store on a free port of loopback, which keeps nothing on disk. */
export class RedisServer {
  readonly port: number;
  readonly #flags: readonly string[];
  readonly #folder = temporaryFolder({});
  #child: ChildProcess | undefined;

  private constructor(port: number, flags: readonly string[]) {
    this.port = port;
    this.#flags = flags;
  }

  /** Starts the program of the operating system, which must be installed. */
  static async start(...flags: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), flags);
    await server.restart();
    return server;
  }

  /** A sentinel that knows one master by this name. */
  static async sentinelOf(master: RedisServer, name: string): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), ['--sentinel']);
    writeFileSync(
      server.#sentinelFile,
      `port ${server.port}\nbind 127.0.0.1\nsentinel monitor ${name} 127.0.0.1 ${master.port} 1\n`,
    );
    await server.restart();
    return server;
  }

  get #sentinelFile(): string {
    return join(this.#folder, 'sentinel.conf');
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async restart(): Promise<void> {
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.#folder];
    const own = this.#flags.includes('--sentinel') ? [this.#sentinelFile] : settings;
    this.#child = spawn('redis-server', [...own, ...this.#flags], { stdio: 'ignore' });
    await waitUntil('redis-server to accept connections', () => accepts(this.port));
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  /** The process stops without closing its connections. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Runs a command with redis-cli, and returns its output. */
  command(...args: readonly string[]): string {
    return spawnSync('redis-cli', ['-p', String(this.port), ...args], { encoding: 'utf8' }).stdout.trim();
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
