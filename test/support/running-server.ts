import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built command line: end-to-end tests run the program that users run. */
export const SVC_MAIN = fileURLToPath(new URL('../../dist/bin/svc.js', import.meta.url));

/** The limit for a server from spawn to its start line, and for a short command; generous for a busy machine. */
const START_TIMEOUT_MS = 120_000;

export interface ServerOptions {
  /** Definition files by name, written to a new folder; `from` names an existing folder instead. */
  readonly files?: Readonly<Record<string, string>>;
  readonly from?: string;
  /** The working directory; the command line names no definitions then. */
  readonly cwd?: string;
  readonly flags?: readonly string[];
  /** `serve` by default. */
  readonly command?: 'serve' | 'dev';
  readonly env?: Readonly<Record<string, string>>;
  /** The Node executable that runs the server; by default that of this process. */
  readonly node?: string;
  /** The program; by default that of this checkout. */
  readonly main?: string;
  /** Receives the process before it serves. */
  readonly onSpawn?: (child: ChildProcess) => void;
}

/** A server process and its output so far. */
export interface RunningServer {
  readonly port: number;
  readonly url: string;
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Sends the signal and waits for the exit; resolves to the exit code (null if a signal ended the process). */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a server on a free port and waits for its start line. Throws all output if the process exits before. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const from = options.cwd === undefined ? ['--from', definitionFolder(options)] : [];
  const flags = [options.command ?? 'serve', ...from, '--port', '0', '--no-dotenv', ...(options.flags ?? [])];
  const child = spawnSvc(flags, options);
  options.onSpawn?.(child);
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  return runningServer(child, await startedPort(child, () => output), () => output);
}

function runningServer(child: ChildProcess, port: number, output: () => string): RunningServer {
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    child,
    output,
    stop: (signal = 'SIGTERM') => endOf(child, signal),
  };
}

/** Runs a command of svc and waits for its exit. */
export async function runSvc(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawnSvc(args, { env, cwd });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, stdout, stderr };
}

/** Writes files to a new temporary folder, which is removed when the test process exits. */
export function temporaryFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  if (temporaryFolders.length === 0) process.once('exit', removeTemporaryFolders);
  temporaryFolders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return folder;
}

const temporaryFolders: string[] = [];

function removeTemporaryFolders(): void {
  for (const folder of temporaryFolders) rmSync(folder, { recursive: true, force: true });
}

function definitionFolder(options: ServerOptions): string {
  if (options.from !== undefined) return options.from;
  return temporaryFolder(options.files ?? {});
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly node?: string | undefined;
  readonly main?: string | undefined;
}

function spawnSvc(args: readonly string[], around: Surroundings): ChildProcess {
  const { env, cwd, node = process.execPath, main = SVC_MAIN } = around;
  // Only the variables that a process needs, so that no key or setting of the developer's shell changes an outcome.
  const bare = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    SVC_WARM_UP: 'off',
    SVC_CALLS: 'off',
  };
  return spawn(node, [main, ...args], {
    env: { ...bare, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
}

async function startedPort(child: ChildProcess, output: () => string): Promise<number> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const match = /listen(?:ing|s) on http:\/\/[^\s"]+?:(\d+)/u.exec(output());
    if (match?.[1] !== undefined) return Number(match[1]);
    if (child.exitCode !== null) throw new Error(`svc ended with ${child.exitCode} before it listened:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  child.kill('SIGKILL');
  throw new Error(`svc did not listen within ${START_TIMEOUT_MS} ms:\n${output()}`);
}

async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const closed = once(child, 'close') as Promise<[number | null]>;
  child.kill(signal);
  return (await closed)[0];
}
