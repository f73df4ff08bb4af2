import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { sourceThread } from '../support/source-thread.ts';

const COMPILE_THREAD = sourceThread('compile-thread');

const samples = fileURLToPath(new URL('../../svc_src', import.meta.url));

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** The output with all times as `0 ms`. */
export function timeless({ out }: Ended): string {
  return out.replaceAll(/\d+(?:\.\d+)? (?:ms|s)\b/gu, '0 ms');
}

/** Runs a command line in this process and collects its output. */
export async function svc(...args: readonly string[]): Promise<Ended> {
  let out = '';
  let error = '';
  const terminal = {
    out: {
      colour: false,
      write: (text: string) => {
        out += text;
      },
    },
    error: {
      colour: false,
      write: (text: string) => {
        error += text;
      },
    },
  };
  const code = await runProgram(args, { terminal, compileThread: COMPILE_THREAD });
  return { code, out, error };
}

/** Runs every test of the file in its own empty directory. */
export function inEmptyDirectory(): void {
  const home = process.cwd();
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-cli-'));
    process.chdir(directory);
  });
  afterEach(() => {
    process.chdir(home);
    rmSync(directory, { recursive: true });
    // `svc serve` listens to them until its process ends.
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  });
}

/** Copies the sample definitions to `svc_src` in the current directory. */
export function copySamples(): void {
  cpSync(samples, 'svc_src', { recursive: true });
}
