import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../architecture/source-files.ts';
import { freePort } from './free-port.ts';
import { waitUntil } from './load.ts';
import { SVC_MAIN, temporaryFolder } from './running-server.ts';

/** A block of code on a page, which a test runs as a reader would. */
export interface PageBlock {
  readonly language: string;
  readonly code: string;
  /** The path in the first line, of a block that is a file. */
  readonly file: string | undefined;
  /** The documented output: the block of text after it. */
  readonly output: string | undefined;
  /** The comment before a block that the test of the page does not run: `<!-- not run: it needs Docker -->`. */
  readonly mark: string | undefined;
}

/** Returns the blocks of a page in order, without those that are the output of another. */
export function blocksOf(page: string): readonly PageBlock[] {
  const found = [...page.matchAll(/^(?:<!-- (.+) -->\n)?```(\w+)\n([^]*?)^```$/gmu)];
  return found.flatMap(([, mark, language = '', code = ''], index) => {
    if (language === 'text') return [];
    const [, , next, output] = found[index + 1] ?? [];
    const [, file] = /^(?:\/\/|#) (\S*\.\w+)\n/u.exec(code) ?? [];
    return [{ language, code, file, output: next === 'text' ? output : undefined, mark }];
  });
}

/** The blocks of a page in docs/callers. */
export function blocksOfCallerPage(name: string): readonly PageBlock[] {
  return blocksOf(readFileSync(join(ROOT, `docs/callers/${name}.md`), 'utf8'));
}

/**
 * Returns a reader who has followed the first page in docs/callers, with a manifest and the packages of a folder of modules: ready for
 * the other pages.
 */
export async function readCallerPages(modules: string, manifest: string): Promise<PageReader> {
  const reader = await PageReader.start();
  symlinkSync(modules, join(reader.folder, 'node_modules'));
  await reader.save('package.json', manifest);
  for (const block of blocksOfCallerPage('README')) await reader.follow(block);
  return reader;
}

const run = promisify(execFile);

/** Runs the commands of a page in one directory, with `svc` on the path and every server on a free port. */
export class PageReader {
  readonly folder = temporaryFolder({});
  readonly #programs = temporaryFolder({ svc: `#!/bin/sh\nexec '${process.execPath}' '${SVC_MAIN}' "$@"\n` });
  readonly #port: number;
  #server: ChildProcess | undefined;
  #output = '';

  private constructor(port: number) {
    this.#port = port;
    chmodSync(join(this.#programs, 'svc'), 0o755);
  }

  static async start(): Promise<PageReader> {
    return new PageReader(await freePort());
  }

  get url(): string {
    return `http://localhost:${this.#port}`;
  }

  /** The output of the last server. */
  get output(): string {
    return this.#output;
  }

  /** The text with the port of this reader. */
  here(text: string): string {
    return text.replaceAll(/(localhost:|--port )(?:2024|8080)\b/gu, `$1${this.#port}`);
  }

  /** Does what a block asks of a reader: saves a file, starts a server, or runs commands. Returns what commands print. */
  async follow(block: PageBlock): Promise<string> {
    const { code, file } = block;
    if (file !== undefined) await this.save(file, code);
    else if (startsServer(block)) await this.serve(code);
    else return this.run(code);
    return '';
  }

  /** Writes a file. If a server reads it again after each save, waits until it has. */
  async save(file: string, text: string): Promise<void> {
    const path = join(this.folder, file);
    const reloads = this.#reloads();
    mkdirSync(dirname(path), { recursive: true });
    // Like most editors: no one reads half of a file.
    const draft = join(this.folder, '.draft');
    writeFileSync(draft, this.here(text));
    renameSync(draft, path);
    const isRead = this.#server !== undefined && /\.(?:svc|env)$/u.test(file);
    if (isRead) await waitUntil(`the reload of ${file}`, () => this.#reloads() > reloads);
  }

  /** Runs commands in a shell and returns their standard output. Fails if one of them fails. */
  async run(commands: string): Promise<string> {
    const { stdout } = await run('sh', ['-eu', '-c', this.here(commands)], this.#surroundings);
    return stdout;
  }

  /** Starts the server of a command, in place of the last one, and waits until it answers. */
  async serve(command: string): Promise<void> {
    await this.stop();
    // The shell becomes the server, so that signals reach it.
    const own = this.here(command).replace(/\bsvc /u, 'exec svc ');
    const server = spawn('sh', ['-c', own], { ...this.#surroundings, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#server = server;
    this.#output = '';
    for (const stream of [server.stdout, server.stderr]) {
      stream.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    }
    await waitUntil('the start of the server', async () => {
      if (server.exitCode !== null) throw new Error(`"${command}" ended with ${server.exitCode}:\n${this.#output}`);
      const answer = await fetch(`${this.url}/livez`, { headers: { connection: 'close' } }).catch(() => undefined);
      return answer?.ok === true;
    });
  }

  /** Ends the server as Ctrl+C does. Resolves to its exit code; undefined if no server runs. */
  async stop(): Promise<number | null | undefined> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null) return server?.exitCode;
    const closed = once(server, 'close') as Promise<[number | null]>;
    server.kill('SIGINT');
    return (await closed)[0];
  }

  #reloads(): number {
    return this.#output.split('reloaded ').length;
  }

  get #surroundings(): { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly encoding: 'utf8' } {
    const path = `${this.#programs}:${process.env['PATH'] ?? ''}`;
    const { HOME, NODE_PATH } = process.env;
    const env = { PATH: path, HOME, NODE_PATH, SVC_PORT: String(this.#port) };
    return { cwd: this.folder, env, encoding: 'utf8' };
  }
}

/** Whether a block starts a server, which runs until the next one. */
export function startsServer({ code }: PageBlock): boolean {
  return /^(?:[A-Z_]+=\S+ )*svc (?:dev|serve)\b/u.test(code);
}

/** A pattern for documented output: `…` stands for any text, and times differ. */
export function outputPattern(documented: string): RegExp {
  const literal = documented.trim().replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`);
  const source = literal
    .replaceAll(/\n?…\n?/gu, '[^]*')
    .replaceAll(/ {2,}/gu, ' +')
    .replaceAll(/\d+(?:\\\.\d+)? m?s\b/gu, String.raw`[\d.]+ m?s`);
  return new RegExp(`^${source}$`, 'u');
}
