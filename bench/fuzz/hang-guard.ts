import { Worker } from 'node:worker_threads';
import type { JsonValue } from '../../src/base/json.ts';

/** An input that takes this long hangs: the slowest ones take seconds on a busy machine. */
const HANG_MS = 60_000;

const MAX_BYTES = 1_000_000;

export interface HangGuard {
  /** Records the input whose check begins. */
  readonly begin: (input: JsonValue) => void;
  end(): Promise<void>;
}

/** Prints the input and ends the process if a check never returns: a check that loops cannot report itself. */
export function guardAgainstHangs(): HangGuard {
  const turns = new Int32Array(new SharedArrayBuffer(8));
  const text = new Uint8Array(new SharedArrayBuffer(MAX_BYTES));
  const encoder = new TextEncoder();
  const worker = new Worker(WATCH, { eval: true, workerData: { turns, text, hangMs: HANG_MS } });
  worker.unref();
  return {
    begin: (input) => {
      turns[1] = encoder.encodeInto(JSON.stringify(input), text).written;
      Atomics.add(turns, 0, 1);
    },
    end: async () => {
      await worker.terminate();
    },
  };
}

const WATCH = `
  const { workerData: { turns, text, hangMs } } = require('node:worker_threads');
  const { writeSync } = require('node:fs');
  let last = 0;
  setInterval(() => {
    const turn = Atomics.load(turns, 0);
    if (turn === last && turn > 0) {
      writeSync(2, 'an input takes more than ' + hangMs / 1000 + ' s:\\n' + Buffer.from(text.slice(0, turns[1])) + '\\n');
      process.exit(3);
    }
    last = turn;
  }, hangMs);
`;
