import { readFileSync, statSync } from 'node:fs';
import { parse } from 'dotenv';
import { err, ok } from '../base/result.ts';
import type { Result } from '../base/result.ts';

export type Variables = Readonly<Record<string, string>>;

/** The process's variables over those of the `.env` file. */
export interface Environment {
  readonly variables: Variables;
  /** The file that was read; absent when there was none. */
  readonly dotenvFile?: string;
  /** The names that come from the file. */
  readonly fromFile: ReadonlySet<string>;
}

export interface DotenvChoice {
  readonly enabled: boolean;
  /** A file that has to exist; unset: `.env` in the current directory, if there is one. */
  readonly path?: string;
}

/** The real environment, as a plain copy. */
export function processVariables(): Variables {
  const copy: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) copy[name] = value;
  return copy;
}

/**
 * Joins the real environment with the `.env` file. A variable that is really set wins, even when it is empty: who starts
 * the process decides. Fails with a message when a named file cannot be read.
 */
export function joinEnvironment(real: Variables, dotenv: DotenvChoice): Result<Environment, string> {
  if (!dotenv.enabled) return ok({ variables: real, fromFile: new Set() });
  const file = dotenv.path ?? '.env';
  const text = readDotenv(file, dotenv.path !== undefined);
  if (!text.ok) return text;
  if (text.value === undefined) return ok({ variables: real, fromFile: new Set() });
  const variables: Record<string, string> = Object.create(null);
  const fromFile = new Set<string>();
  for (const [name, value] of Object.entries(parse(text.value))) {
    if (Object.hasOwn(real, name)) continue;
    variables[name] = value;
    fromFile.add(name);
  }
  return ok({ variables: Object.assign(variables, real), dotenvFile: file, fromFile });
}

function readDotenv(file: string, required: boolean): Result<string | undefined, string> {
  try {
    // A directory called `.env` is a virtual environment of Python, and nobody's settings.
    if (!required && statSync(file).isDirectory()) return ok(undefined);
    return ok(readFileSync(file, 'utf8').replace(/^\uFEFF/u, ''));
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' && !required) return ok(undefined);
    const reason = REASONS.get(code) ?? `it cannot be read (${code})`;
    return err(`"${file}" is not loaded: ${reason}. Name an existing file with --dotenv-path, or use --no-dotenv.`);
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EISDIR', 'it is a directory'],
  ['EACCES', 'reading it is not permitted'],
]);

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
