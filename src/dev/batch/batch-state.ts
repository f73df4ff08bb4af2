import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { messageOf } from '../../base/invariant.ts';
import { isJsonObject } from '../../base/json.ts';
import { replaceFile } from '../../base/write-file.ts';
import { err, ok, type Result } from '../../base/result.ts';

/** The questions that a file of answers belongs to, in a file beside it (docs/adr/0024-a-batch-has-a-state-file.md). */
export interface BatchState {
  readonly format: 1;
  readonly function: string;
  /** The hash of the program, or that of the server's program. */
  readonly definitions: string;
  /** The SHA-256 of the input. */
  readonly input: string;
  /** A random id. Idempotency keys consist of it, the round and the row. */
  readonly run: string;
  /** How often failed rows were asked again, or changes accepted: these calls need new keys. */
  readonly round: number;
}

export type BatchQuestions = Pick<BatchState, 'function' | 'definitions' | 'input'>;

export interface ClaimOptions {
  /** The path of the input, for sentences. */
  readonly inputPath: string;
  readonly acceptChanges: boolean;
  readonly retryFailed: boolean;
}

export function statePath(answers: string): string {
  return `${answers}.batch.json`;
}

/** Returns the state of the batch that writes to `answers`: a new one, or that of the batch to continue. Fails with a sentence. */
export function claimAnswers(
  answers: string,
  questions: BatchQuestions,
  { inputPath, acceptChanges, retryFailed }: ClaimOptions,
): Result<BatchState, string> {
  const hasAnswers = (statSync(answers, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const path = statePath(answers);
  if (!hasAnswers) return ok(written(path, { format: 1, ...questions, run: randomUUID(), round: 0 }));
  const found = readState(path);
  if (found === undefined) {
    return err(`"${answers}" exists, and without "${path}" svc cannot continue it. ${OTHER_FILE}`);
  }
  const { function: name, definitions, input } = questions;
  if (found.function !== name) {
    return err(`"${answers}" has the answers of the function "${found.function}", not of "${name}". ${OTHER_FILE}`);
  }
  const changed = changeOf(found, questions, inputPath);
  if (changed !== undefined && !acceptChanges) {
    return err(
      `${changed} since "${answers}" was begun. To continue nevertheless, add --accept-changes. ${OTHER_FILE}`,
    );
  }
  if (changed === undefined && !retryFailed) return ok(found);
  return ok(written(path, { ...found, definitions, input, round: found.round + 1 }));
}

function changeOf(found: BatchState, { definitions, input }: BatchQuestions, inputPath: string): string | undefined {
  if (found.input !== input) return `"${inputPath}" has changed, or is another file,`;
  return found.definitions === definitions ? undefined : 'the definitions have changed';
}

const OTHER_FILE = 'Pass another file to --out, or delete this one to begin again.';

function readState(path: string): BatchState | undefined {
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
  if (!isJsonObject(data) || data['format'] !== 1) return undefined;
  const { function: name, definitions, input, run, round } = data;
  if (typeof name !== 'string' || typeof definitions !== 'string' || typeof input !== 'string') return undefined;
  if (typeof run !== 'string' || typeof round !== 'number') return undefined;
  return { format: 1, function: name, definitions, input, run, round };
}

/** Writes the state before the first answer. */
function written(path: string, state: BatchState): BatchState {
  replaceFile(path, `${JSON.stringify(state, undefined, 2)}\n`);
  return state;
}

/**
 * Keeps other processes on this machine from writing to the same file. Returns a function that releases the file, or a sentence
 * if another process holds it. A process that was killed holds no file.
 */
export function lockAnswers(answers: string): Result<() => void, string> {
  const path = `${answers}.lock`;
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return ok(() => rmSync(path, { force: true }));
    } catch (error) {
      if (!existsSync(path)) throw error;
    }
    const owner = Number(readFileSync(path, 'utf8'));
    if (owner !== process.pid && isAlive(owner)) {
      return err(`process ${owner} writes to "${answers}". If it is not a batch of svc, delete "${path}".`);
    }
    rmSync(path, { force: true });
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, but belongs to another user.
    return messageOf(error).includes('EPERM');
  }
}
