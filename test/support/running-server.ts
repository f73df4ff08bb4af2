import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built command line: end-to-end tests drive what a user gets. */
const SVC_MAIN = fileURLToPath(new URL('../../dist/bin/svc.js', import.meta.url));

/** How long a server may take from spawn to its start line, and a short command to its end; generous for a busy machine. */
const START_TIMEOUT_MS = 120_000;

export interface ServerOptions {
  /** Definition files by name, written to a fresh folder; `from` names an existing folder in their place. */
  readonly files?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The file of Node that runs it; the one of this process unless given. */
  readonly node?: string;
  /** Gets the process when it has not started to serve yet. */
  readonly onSpawn?: (child: ChildProcess) => void;
}

/** A server process and what it said so far. */
export interface RunningServer {
  readonly port: number;
  readonly url: string;
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Sends the signal and waits for the end; resolves to the exit code (null when a signal ended it). */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `svc serve` on a free port and waits for its start line. Fails with all output when it ends before. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const folder = definitionFolder(options);
  const flags = ['serve', '--from', folder, '--port', '0', '--no-dotenv', ...(options.flags ?? [])];
  const child = spawnSvc(flags, options);
  options.onSpawn?.(child);
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const port = await startedPort(child, () => output);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    child,
    output: () => output,
    stop: (signal = 'SIGTERM') => endOf(child, signal),
  };
}

/** Runs a command of svc to its end. */
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

/** Writes files into a fresh temporary folder, removed when the test process ends. */
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
  readonly node?: string;
}

function spawnSvc(args: readonly string[], { env, cwd, node = process.execPath }: Surroundings): ChildProcess {
  // Only what a process needs, so that no key or setting of the developer's shell changes an outcome.
  const bare = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  return spawn(node, [SVC_MAIN, ...args], {
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
