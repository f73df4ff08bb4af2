import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
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

const run = promisify(execFile);

/** Runs the commands of a page in one directory, with `svc` on the path and every server on a free port. */
export class PageReader {
  readonly folder = temporaryFolder({});
  readonly #programs = temporaryFolder({ svc: `#!/bin/sh\nexec '${process.execPath}' '${SVC_MAIN}' "$@"\n` });
  readonly #port: number;
  #server: ChildProcess | undefined;

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

  /** The text with the port of this reader. */
  here(text: string): string {
    return text.replaceAll(/(localhost:|--port )(?:2024|8080)\b/gu, `$1${this.#port}`);
  }

  write(file: string, text: string): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.here(text));
  }

  /** Runs commands in a shell and returns their standard output. Fails if one of them fails. */
  async run(commands: string): Promise<string> {
    const { stdout } = await run('sh', ['-eu', '-c', this.here(commands)], this.#surroundings);
    return stdout;
  }

  /** Starts the server of a command, in place of the last one, and waits until it answers. */
  async serve(command: string): Promise<void> {
    await this.stop();
    const server = spawn('sh', ['-c', `exec ${this.here(command)}`], {
      ...this.#surroundings,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#server = server;
    let output = '';
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await waitUntil('the start of the server', async () => {
      if (server.exitCode !== null) throw new Error(`"${command}" ended with ${server.exitCode}:\n${output}`);
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

  get #surroundings(): { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly encoding: 'utf8' } {
    const path = `${this.#programs}:${process.env['PATH'] ?? ''}`;
    const env = { PATH: path, HOME: process.env['HOME'], SVC_PORT: String(this.#port) };
    return { cwd: this.folder, env, encoding: 'utf8' };
  }
}

/** Whether a block starts a server, which runs until the next one. */
export function startsServer({ code }: PageBlock): boolean {
  return /^svc (?:dev|serve)\b/u.test(code);
}
