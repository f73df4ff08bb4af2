import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallDatabase } from '../../src/calls/call-database.ts';
import { callRow, type CallRow } from '../../src/calls/call-rows.ts';
import { openCalls } from '../../src/calls/open-calls.ts';
import type { CallsAddress } from '../../src/config/calls-address.ts';
import type { CallContent, CallFacts } from '../../src/schema/kept-call.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/running-server.ts';

/** Servers that tests start find `better-sqlite3` by this. */
export const SQLITE_PATH: Readonly<Record<string, string>> = {
  NODE_PATH: new URL('node_modules', import.meta.url).pathname,
};

export function sqliteFile(): { readonly kind: 'sqlite'; readonly path: string } {
  return { kind: 'sqlite', path: join(temporaryFolder({}), 'calls.db') };
}

/** The programs of the newest Postgres of this machine; undefined without one. */
function postgresPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const [newest] = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  return newest === undefined ? undefined : join(root, newest, 'bin');
}

export const POSTGRES = postgresPrograms();

/** A Postgres of its own on a free port of loopback. It refuses to run as root, so root runs it as another user. */
export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #programs: string;
  #process: ChildProcess | undefined;

  private constructor(programs: string, folder: string, port: number) {
    this.#programs = programs;
    this.#folder = folder;
    this.port = port;
  }

  static async start(): Promise<PostgresServer> {
    if (POSTGRES === undefined) throw new Error('there is no Postgres on this machine');
    const folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
    if (process.getuid?.() === 0) chownSync(folder, userId('postgres'), userId('postgres'));
    const server = new PostgresServer(POSTGRES, folder, await freePort());
    execFileSync(
      ...server.#command('initdb', [
        '-D',
        join(folder, 'data'),
        '-U',
        'svc',
        '-A',
        'trust',
        '-E',
        'UTF8',
        '--locale=C',
      ]),
      {
        stdio: 'ignore',
        cwd: folder,
      },
    );
    await server.resume();
    return server;
  }

  get address(): CallsAddress {
    return { kind: 'postgres', url: `postgres://svc:secret-of-postgres@127.0.0.1:${this.port}/postgres` };
  }

  /** Ends the server at once, as a crash would. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.#process?.once('exit', resolve));
    this.#process?.kill('SIGQUIT');
    await ended;
    this.#process = undefined;
  }

  async resume(): Promise<void> {
    const data = join(this.#folder, 'data');
    const [program, args] = this.#command('postgres', [
      '-D',
      data,
      '-p',
      String(this.port),
      '-k',
      this.#folder,
      '-c',
      'listen_addresses=127.0.0.1',
    ]);
    this.#process = spawn(program, args, { stdio: 'ignore', cwd: this.#folder });
    for (let attempt = 0; ; attempt += 1) {
      try {
        const calls = await openCalls(this.address, { readOnly: false });
        await calls.close();
        return;
      } catch (error) {
        if (attempt > 300) throw error;
        await sleep(100);
      }
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #command(program: string, args: readonly string[]): [string, string[]] {
    const path = join(this.#programs, program);
    return process.getuid?.() === 0
      ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
      : [path, [...args]];
  }
}

function userId(name: string): number {
  return Number(execFileSync('id', ['-u', name], { encoding: 'utf8' }));
}

export const FACTS: CallFacts = {
  requestId: 'r-1',
  at: Date.UTC(2026, 0, 1),
  functionName: 'ReadInvoice',
  route: 'call',
  program: 'p1',
  key: null,
  status: 200,
  error: null,
  lossy: false,
  cache: null,
  client: 'Fast',
  model: 'small',
  attempts: 1,
  ms: 12.5,
  modelMs: 11,
  firstTextMs: null,
  inputTokens: 10,
  outputTokens: 5,
  cost: 0.001,
  tags: null,
};

function json(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

export function row(facts: Partial<CallFacts>, content: CallContent | null = {}): CallRow {
  const { tags, ...own } = { ...FACTS, ...facts };
  return callRow(own, { tags: json(tags), content: json(content) });
}

/** The ids of all calls that fit, the newest first. */
export async function idsOf(
  calls: CallDatabase,
  filter: Parameters<CallDatabase['page']>[0],
): Promise<readonly string[]> {
  const ids: string[] = [];
  let before: number | undefined;
  do {
    const page = await calls.page(filter, { before, limit: 3 });
    ids.push(...page.calls.map(({ requestId }) => requestId));
    before = page.next ?? undefined;
  } while (before !== undefined);
  return ids;
}
