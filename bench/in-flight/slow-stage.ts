import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, freePort, start, startWithPort, untilReady } from '../child-process.ts';
import { CONTACT_CLASS, declareClient, declareFunction, writeDefinitionFile } from '../definitions.ts';
import { post } from '../load.ts';
import { memoryOf, processTree } from '../process-usage.ts';
import { commandOf, ROOT, SETTLE_MS, type SideName } from '../sides.ts';
import type { ModelState } from './slow-model.ts';

/** All sides but the floor. */
export const SLOW_SIDES = ['svc', 'baml'] as const satisfies readonly SideName[];
export type SlowSideName = (typeof SLOW_SIDES)[number];

/** The transport of model calls, which selects the functions that a load calls. */
export type Wire = 'plain' | 'h2';

/** A server with a slow model server of its own, so that the connections of one side can be counted. */
export interface SlowSide {
  readonly name: SlowSideName;
  readonly pid: number;
  readonly port: number;
  /** PSS of all processes before the first request, in bytes. */
  readonly idleBytes: number;
  /** The most connections to the model at once since the last call. */
  connections(): Promise<number>;
  end(): Promise<void>;
}

/** The limit of svc allows the largest load. */
const VARIABLES: Readonly<Record<SlowSideName, Readonly<Record<string, string>>>> = {
  svc: { SVC_MAX_IN_FLIGHT: '8192' },
  baml: {},
};

/** Starts a server that has answered no call yet, with two workers. */
export async function startSlowSide(name: SlowSideName): Promise<SlowSide> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-in-flight-'));
  const { child: model, port: control } = await startWithPort({
    program: process.execPath,
    args: [join(ROOT, 'dist/bench/in-flight/slow-model.js')],
  });
  const state = async (): Promise<ModelState> =>
    (await (await fetch(`http://127.0.0.1:${control}`)).json()) as ModelState;
  const definitions = writeDefinitionFile(folder, definitionsFor(await state()));
  const port = await freePort();
  const child = start(commandOf(name, String(port), { definitions, provider: '', env: VARIABLES[name] }));
  const stop = async (): Promise<void> => {
    await Promise.all([model, child].map(end));
    rmSync(folder, { recursive: true });
  };
  try {
    await untilReady(child, `http://127.0.0.1:${port}/_debug/ping`);
    await sleep(SETTLE_MS);
    const pid = child.pid ?? 0;
    return { name, pid, port, idleBytes: pssOf(pid), connections: async () => (await state()).connections, end: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** PSS of a process and its descendants, in bytes. */
export function pssOf(pid: number): number {
  return processTree(pid).reduce((sum, one) => sum + memoryOf(one).pssBytes, 0);
}

/** One answer, of a side that has just started or not. */
export function ask(side: SlowSide, path: string): Promise<string> {
  return post(`http://127.0.0.1:${side.port}${path}`);
}

/** Functions `<Wire>Call` and `<Wire>Stream` for each wire. */
function definitionsFor({ plainPort, securePort }: ModelState): string {
  const origins = { Plain: `http://127.0.0.1:${plainPort}`, H2: `https://127.0.0.1:${securePort}` };
  const parts = Object.entries(origins).flatMap(([wire, origin]) => [
    declareClient(`${wire}CallModel`, `${origin}/call/v1`),
    declareFunction(`${wire}Call`, 'Contact'),
    declareClient(`${wire}StreamModel`, `${origin}/stream/v1`),
    declareFunction(`${wire}Stream`, 'Note'),
  ]);
  return [CONTACT_CLASS, NOTE_CLASS, ...parts].join('\n');
}

const NOTE_CLASS = `class Note {
  name string
  topic string
  urgent bool
  points string[] @description("short and sound")
}
`;
