import { readFileSync, statSync } from 'node:fs';
import { parse } from 'dotenv';
import { credentialsIn, SHORTEST_SECRET } from '../base/credentials.ts';
import { codeOf } from '../base/invariant.ts';
import { err, ok, type Result } from '../base/result.ts';
import { exportSecrets } from './telemetry-settings.ts';

export type EnvironmentVariables = Readonly<Record<string, string>>;

/** The variables of this process, joined with those of a `.env` file. */
export interface JoinedVariables {
  readonly variables: EnvironmentVariables;
  /** The file that was read; absent if there was none. */
  readonly file?: string;
  /** The names of the variables that come from the file. */
  readonly fromFile: ReadonlySet<string>;
}

/** A copy of the variables of this process. */
export function processVariables(): EnvironmentVariables {
  const copy: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) copy[name] = value;
  return copy;
}

/**
 * Joins variables with those of a `.env` file: the file at `path`, or `.env` in the current directory if it exists. A
 * variable of `real` wins, even if it is empty. Returns an error message if the file cannot be read.
 */
export function joinDotenv(real: EnvironmentVariables, path: string | undefined): Result<JoinedVariables, string> {
  const file = path ?? '.env';
  const text = readDotenv(file, path !== undefined);
  if (!text.ok) return text;
  if (text.value === undefined) return ok({ variables: real, fromFile: new Set() });
  const variables: Record<string, string> = Object.create(null);
  const fromFile = new Set<string>();
  for (const [name, value] of Object.entries(parse(text.value))) {
    if (Object.hasOwn(real, name)) continue;
    variables[name] = value;
    fromFile.add(name);
  }
  return ok({ variables: Object.assign(variables, real), file, fromFile });
}

/** Returns the variables in `.env.local`, which BAML's server reads and svc does not; empty if it cannot be read. */
export function localDotenv(): EnvironmentVariables {
  const text = readDotenv('.env.local', false);
  return text.ok ? parse(text.value ?? '') : {};
}

function readDotenv(file: string, required: boolean): Result<string | undefined, string> {
  try {
    // A directory called `.env` is a virtual environment of Python.
    if (!required && statSync(file).isDirectory()) return ok(undefined);
    return ok(readFileSync(file, 'utf8').replace(/^\uFEFF/u, ''));
  } catch (error) {
    if (!required && codeOf(error) === 'ENOENT') return ok(undefined);
    return err(
      `"${file}" cannot be read: ${readFault(error)}. Pass an existing file to --dotenv-path, or use --no-dotenv.`,
    );
  }
}

/** The reason why a file cannot be read, as part of a sentence. */
export function readFault(error: unknown): string {
  const code = codeOf(error) ?? 'unknown error';
  return READ_FAULTS.get(code) ?? code;
}

const READ_FAULTS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'it does not exist'],
  ['EISDIR', 'it is a directory'],
  ['EACCES', 'permission is denied'],
]);

/**
 * Whether to write colours. FORCE_COLOR decides first, as it does for Node, so that logs of CI can have colours (`0` turns
 * them off). Otherwise svc colours a terminal, unless NO_COLOR is set to anything (https://no-color.org).
 */
export function wantsColour(isTerminal: boolean, variables: EnvironmentVariables): boolean {
  const forced = variables['FORCE_COLOR'] ?? '';
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && (variables['NO_COLOR'] ?? '') === '' && variables['TERM'] !== 'dumb';
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE|AUTH|COOKIE|_PAT$|_DSN$|WEBHOOK/iu;

/** Names that match, but hold paths and switches rather than credentials. */
const PLAIN_NAME = /_(?:FILE|PATH|DIR|URL|URI|TYPE|MODE|ENABLED|ID|SOCK|HOST|PORT)$/iu;

/** Values such as `enabled`, and the frame of a private key: not credentials, whatever the name of the variable. */
const PLAIN_VALUE = /^(?:enabled|disabled|required|optional|default|production|development|-----[A-Z ]+-----)$/iu;

/** The values of variables that no log line may contain, and `others`, longest first so that none hides inside another. */
export function secretsOf(variables: EnvironmentVariables, others: readonly string[] = []): readonly string[] {
  const found = new Set<string>();
  for (const value of others) addSecret(found, value);
  for (const value of exportSecrets(variables)) addSecret(found, value);
  for (const [name, value] of Object.entries(variables)) {
    // Passwords in URLs, and the secret parts of JSON, whatever the name of the variable.
    const parts = credentialsIn(value);
    for (const part of parts) addSecret(found, part);
    const isJson = parts.size > 0 && value.trimStart().startsWith('{');
    if (!isJson && SECRET_NAME.test(name) && !PLAIN_NAME.test(name)) addSecret(found, value);
  }
  return [...found].toSorted((a, b) => b.length - a.length);
}

/** A credential of several lines (a private key, service-account JSON) can leak line by line. */
function addSecret(found: Set<string>, value: string): void {
  for (const line of [value, ...value.split(/[\r\n]+/u)]) {
    const text = line.trim();
    if (text.length >= SHORTEST_SECRET && !PLAIN_VALUE.test(text)) found.add(text);
  }
}
