import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end, freePort, start, startWithPort, untilReady, untilSpare, type Command } from './child-process.ts';
import { writeDefinitions } from './definitions.ts';

/** The package folder; this file runs from `dist/bench`. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const RESULTS_FOLDER = join(ROOT, 'bench/results');
const SERVER = 'dist/bin/svc.js';
const PEER = join(ROOT, 'bench/node_modules/@boundaryml/baml/cli.js');
const WORKERS = 2;

/**
 * Until the processes of svc have warmed up and collected the garbage of it, the spare one included: three take up to 4 s of CPU time
 * each, and collect 7 s later.
 */
export const SETTLE_MS = 20_000;

/** Both sides trust the certificate of the model servers. */
const TRUST = {
  svc: { SSL_CERT_FILE: join(ROOT, 'test/runtime/model/certificates/authority.pem') },
  baml: { DANGER_ACCEPT_INVALID_CERTS: '1' },
};

/** `floor` is the least that a call can cost; `baml` is the program that svc is compatible with. */
export type SideName = 'svc' | 'floor' | 'baml';

/** One of the servers that are compared. */
export interface Side {
  readonly name: SideName;
  readonly child: ChildProcess;
  readonly pid: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
}

/** The sides and the fake provider that they all call. */
export interface Stage {
  readonly sides: readonly Side[];
  readonly provider: string;
  /** The folder of the definition files. */
  readonly definitions: string;
  end(): Promise<void>;
}

export interface StageOptions {
  readonly sides: readonly SideName[];
  /** Definition files served by svc and the peer. */
  readonly definitionFiles?: number;
  /** Workers of svc; two by default. */
  readonly workers?: number;
  /** Restricts the sides to these cores. */
  readonly cores?: readonly number[];
  /** The package folder of svc; by default the one of this bench. */
  readonly root?: string;
  /** The binary of Node that runs svc; by default the one that runs this bench. */
  readonly node?: string;
  /** Variables for svc and the peer, in addition to the environment of the bench. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The reason why a side cannot run here; undefined if it can. */
export function missingSide(name: SideName): string | undefined {
  if (name === 'svc' && !existsSync(join(ROOT, SERVER))) return 'not built: npm run build';
  if (name === 'baml' && !existsSync(PEER)) return 'not installed: npm --prefix bench install';
  return undefined;
}

/** Starts the fake provider and the requested sides; resolves when all of them answer. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const { child, port } = await startWithPort(nodeCommand([join(ROOT, 'dist/bench/fake-provider.js')]));
  const provider = `http://127.0.0.1:${port}`;
  const definitions = writeDefinitions(folder, provider, options.definitionFiles);
  const sides: Side[] = [];
  const stage = {
    sides,
    provider,
    definitions,
    end: async () => {
      await Promise.all([child, ...sides.map((side) => side.child)].map(end));
      rmSync(folder, { recursive: true });
    },
  };
  try {
    for (const name of options.sides)
      sides.push(await startSide(name, { ...options, definitions, provider, env: options.env ?? {} }));
  } catch (error) {
    await stage.end();
    throw error;
  }
  return stage;
}

/** The parameters of a command line. */
export interface Place {
  readonly definitions: string;
  readonly provider: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workers?: number;
  readonly cores?: readonly number[];
  readonly root?: string;
  readonly node?: string;
}

async function startSide(name: SideName, place: Place): Promise<Side> {
  const port = String(await freePort());
  const child = start(pinned(commandOf(name, port, place), place.cores));
  const url = `http://127.0.0.1:${port}`;
  await untilReady(child, `${url}/_debug/ping`);
  if (name === 'svc') await untilSpare(child, place.workers ?? WORKERS);
  return { name, child, pid: child.pid ?? 0, url };
}

/** All sides log warnings only: the bench does not compare the cost of logs. */
export function commandOf(name: SideName, port: string, place: Place): Command {
  const { definitions, provider, env, workers = WORKERS, root = ROOT, node } = place;
  switch (name) {
    case 'svc':
      return {
        ...nodeCommand(
          [join(root, SERVER), 'serve', '--from', definitions, '--port', port, '--workers', String(workers)],
          node,
        ),
        env: { SVC_LOG_LEVEL: 'warn', ...TRUST.svc, ...env },
      };
    case 'baml':
      return {
        ...peerCommand(['serve', '--from', definitions, '--port', port, '--features', 'beta']),
        env: { BAML_LOG: 'warn', ...TRUST.baml, ...env },
      };
    case 'floor':
      return nodeCommand([join(ROOT, 'dist/bench/floor.js'), port, provider]);
  }
}

/** The command restricted to some cores by taskset of util-linux. */
export function pinned(command: Command, cores: readonly number[] | undefined): Command {
  if (cores === undefined) return command;
  return { ...command, program: 'taskset', args: ['-c', cores.join(','), command.program, ...command.args] };
}

export function peerCommand(args: readonly string[]): Command {
  return nodeCommand([PEER, ...args]);
}

export function nodeCommand(args: readonly string[], program: string = process.execPath): Command {
  return { program, args };
}
