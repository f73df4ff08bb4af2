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
 * The limits of a step end a smaller one within a fraction of a second, so the worker notes it once per function and heartbeat.
 * The worker notes a larger one whenever the last note is of another function.
 */
const LARGE = 4096;

/** The functions that a note names at most. */
const MOST_FUNCTIONS = 8;

/**
 * Notes the step that a worker is running, so that the primary can log it: a worker that hangs cannot report anything. The note
 * is a small file, because Node processes share no memory. It is rarely written: small calls cost one write per function and
 * heartbeat, in whatever order the functions are called.
 */
export class StepNote {
  readonly #file: number | undefined;
  readonly #bytes = Buffer.alloc(NOTE_BYTES, ' ');
  /** The size of the last note of each function since the last heartbeat, the newest last. */
  readonly #noted = new Map<string, number>();
  /** The lines of the note, the newest first. */
  #lines: readonly (readonly [functionName: string, line: string])[] = [];

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
    const noted = this.#noted.get(functionName);
    const isLast = size < LARGE || this.#lines[0]?.[0] === functionName;
    if (noted !== undefined && size <= 2 * noted && isLast) return;
    this.#noted.set(functionName, size);
    const others = this.#lines.filter(([name]) => name !== functionName).slice(0, MOST_FUNCTIONS - 1);
    this.#lines = [[functionName, `${input} ${size} ${functionName}`], ...others];
    this.#write(this.#lines.map(([, line]) => line).join('\n'));
  }

  /** Call this with each heartbeat, when no step is running. */
  clear(): void {
    if (this.#lines.length === 0) return;
    this.#noted.clear();
    this.#lines = [];
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

/** The steps that a worker noted after its last heartbeat, at most one for each function, the newest first. */
export function readSteps(directory: string, pid: number): readonly Step[] {
  try {
    return readFileSync(pathOf(directory, pid), 'utf8').trimEnd().split('\n').flatMap(stepIn);
  } catch {
    return [];
  }
}

function stepIn(line: string): readonly Step[] {
  const [, input, size = '', functionName = ''] = /^(request|reply) (\d+) (.+)$/u.exec(line) ?? [];
  return input === 'request' || input === 'reply' ? [{ functionName, input, size: Number(size) }] : [];
}

export function removeStep(directory: string, pid: number): void {
  rmSync(pathOf(directory, pid), { force: true });
}

function pathOf(directory: string, pid: number): string {
  return join(directory, `step-${pid}`);
}

/** The fields of a log line about a step. */
export function stepFields(step: Step | undefined): object {
  return step === undefined ? {} : { function: step.functionName, input: step.input, size: step.size };
}

/** The step that the worker began last is nearly always the one that hangs; a stopped process can be outside any step. */
export function hangs([step, ...others]: readonly Step[]): string {
  if (step === undefined) return 'the primary kills a worker that hangs; it began no step after its last heartbeat';
  const unit = step.input === 'request' ? 'bytes' : 'characters';
  const more =
    others.length === 0 ? '' : `, after steps of ${others.map((each) => `"${each.functionName}"`).join(', ')}`;
  return `the primary kills a worker that hangs; its last step was a ${step.input} of "${step.functionName}" with ${step.size} ${unit}${more}`;
}
