import { openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A step that a worker began in a turn of the event loop that has not ended. */
export interface Step {
  readonly functionName: string;
  /** `request`: reads a body and checks arguments. `reply`: parses a reply, or the part of it that has arrived. */
  readonly input: 'request' | 'reply';
  /** Bytes of a body, UTF-16 units of a reply. A step of up to twice the size can follow without a note. */
  readonly size: number;
}

/** svc truncates longer notes, because the name of a function can have any length. */
const NOTE_BYTES = 512;

/**
 * Notes the step that a worker is running, so that the primary can log it: a worker that hangs cannot report anything. The note
 * is a small file, because Node processes share no memory. A step like the previous one is not written again, so that calls
 * of one function cost one write per heartbeat.
 */
export class StepNote {
  readonly #file: number | undefined;
  readonly #bytes = Buffer.alloc(NOTE_BYTES, ' ');
  #functionName = '';
  #size = 0;

  /** `directory` belongs to this server. If it does not exist, or the disk is full, the worker writes no notes. */
  constructor(directory: string, pid: number) {
    try {
      this.#file = openSync(pathOf(directory, pid), 'w', 0o600);
    } catch {
      this.#file = undefined;
    }
  }

  /** Call this before a step that can take long. */
  begin(functionName: string, input: Step['input'], size: number): void {
    if (functionName === this.#functionName && size <= 2 * this.#size) return;
    this.#functionName = functionName;
    this.#size = size;
    this.#write(`${input} ${size} ${functionName}`);
  }

  /** Call this with each heartbeat, when no step is running. */
  clear(): void {
    if (this.#functionName === '') return;
    this.#functionName = '';
    this.#size = 0;
    this.#write('');
  }

  #write(text: string): void {
    if (this.#file === undefined) return;
    this.#bytes.fill(' ');
    this.#bytes.write(text);
    try {
      writeSync(this.#file, this.#bytes, 0, NOTE_BYTES, 0);
    } catch {
      // Only the log uses the note.
    }
  }
}

/** The step that a worker began after its last heartbeat; undefined if there is none. */
export function readStep(directory: string, pid: number): Step | undefined {
  try {
    const match = /^(request|reply) (\d+) (.+)$/u.exec(readFileSync(pathOf(directory, pid), 'utf8').trimEnd());
    const [, input, size = '', functionName = ''] = match ?? [];
    return input === 'request' || input === 'reply' ? { functionName, input, size: Number(size) } : undefined;
  } catch {
    return undefined;
  }
}

export function removeStep(directory: string, pid: number): void {
  rmSync(pathOf(directory, pid), { force: true });
}

function pathOf(directory: string, pid: number): string {
  return join(directory, `step-${pid}`);
}
