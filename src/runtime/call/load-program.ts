import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/invariant.ts';
import { deepFreeze, isJsonObject } from '../../base/json.ts';
import { replaceFile } from '../../base/write-file.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Program } from '../../schema/program.ts';
import { programHash } from '../../schema/type-extension.ts';

const FORMAT: Program['format'] = 2;

/** A program as the content of its file. */
export interface SerializedProgram {
  readonly hash: string;
  /** UTF-8, in memory of its own, so that it can be transferred between threads. */
  readonly json: Uint8Array<ArrayBuffer>;
  /** The content for `sourcesPath`; absent if no request can bring types. */
  readonly sources?: Uint8Array<ArrayBuffer> | undefined;
}

export function serializeProgram(program: Program): SerializedProgram {
  return { hash: program.hash, json: new TextEncoder().encode(JSON.stringify(program)) };
}

/** The mode of files that only this user can read. */
const OWNER_ONLY = 0o600;

/**
 * Writes the program into `directory`, readable by this user alone, and returns the path of the file, which is named after
 * the program's hash. The file appears complete or not at all. Throws if the directory is not writable.
 */
export function writeProgram(program: Program | SerializedProgram, directory: string): string {
  const { hash, json, sources } = 'json' in program ? program : serializeProgram(program);
  const path = join(directory, `${hash}.json`);
  if (sources !== undefined) replaceFile(sourcesPath(path), sources, OWNER_ONLY);
  replaceFile(path, json, OWNER_ONLY);
  return path;
}

/** The file beside the program that contains its definition files: a JSON list of paths and texts. */
export function sourcesPath(programPath: string): string {
  return `${programPath}.sources`;
}

/** Reads a file of `writeProgram`. The failure names the file and states what is wrong: its format, hash or JSON. */
export function loadProgram(path: string): Result<Program, string> {
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return err(`cannot read the program file "${path}": ${messageOf(error)}`);
  }
  if (!isJsonObject(data) || data['format'] !== FORMAT) {
    return err(`the program file "${path}" is not of format ${FORMAT}: it was written by another version of svc`);
  }
  const program = data as unknown as Program;
  if (programHash(program) !== program.hash) {
    return err(`the program file "${path}" does not match its hash: it has changed since it was written`);
  }
  return ok(deepFreeze(program));
}
