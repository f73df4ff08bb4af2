import { hash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { didYouMean } from '../../base/suggestion.ts';
import { replaceFile, writeFault } from '../../base/write-file.ts';
import { keyState, type CallerLimits, type KeyEntry } from '../../config/key-file.ts';
import { checkKeys, isFunctionList, LIMITS, nameFault, readExpiry, readKeys } from '../../config/read-keys.ts';
import { yamlPackage } from '../../config/read-yaml.ts';
import type { Invocation } from '../invocation.ts';
import { refuse, reportProblem, type ExitCode, type Terminal } from '../terminal.ts';

/** `svc keys ACTION [NAME]`: see docs/cli.md. */
export function keysCommand(invocation: Invocation): ExitCode {
  const { options, paths, terminal } = invocation;
  const [action = '', name] = paths;
  const file = typeof options['keys'] === 'string' ? options['keys'] : undefined;
  if (action === 'create') return create(invocation, name, file);
  if (action !== 'list' && action !== 'rotate' && action !== 'revoke') {
    return refuse(terminal, `there is no "svc keys ${action}". Use create, list, rotate or revoke.`);
  }
  if (file === undefined) return refuse(terminal, `"svc keys ${action}" needs the key file: add --keys FILE.`);
  if (options['functions'] !== undefined) return refuse(terminal, `"svc keys ${action}" takes no --functions.`);
  if (action !== 'rotate' && options['expires'] !== undefined) {
    return refuse(terminal, `"svc keys ${action}" takes no --expires.`);
  }
  if (action === 'list') {
    return name === undefined ? list(terminal, file) : refuse(terminal, '"svc keys list" takes no name.');
  }
  if (name === undefined) return refuse(terminal, `"svc keys ${action}" needs the name of a key.`);
  return action === 'rotate' ? rotate(invocation, name, file) : revoke(terminal, name, file);
}

/** Prints a new key once, and the entry for the key file; with a file, adds the entry to it. */
function create({ options, terminal }: Invocation, name: string | undefined, file: string | undefined): ExitCode {
  const entry = newEntry(name, options);
  if (typeof entry === 'string') return refuse(terminal, entry);
  const key = newKey();
  const { functions, expires } = entry;
  const complete = {
    name: entry.name,
    sha256: hash('sha256', key),
    ...(functions !== undefined && { functions }),
    ...(expires !== undefined && { expires }),
  };
  const fault = file === undefined ? undefined : append(file, complete);
  if (fault !== undefined) return reportProblem(terminal, fault);
  showKey(terminal, key);
  if (file === undefined)
    terminal.error.write(`Add this entry to the list "keys" of your key file:\n\n${asYaml(complete)}`);
  else terminal.error.write(`svc: added "${entry.name}" to ${JSON.stringify(file)}\n`);
  return 0;
}

/** Prints a line for each key: its name, its state, and what the entry states. */
function list(terminal: Terminal, file: string): ExitCode {
  const read = readKeys(file);
  if (!read.ok) return reportProblem(terminal, read.failure);
  const { keys = [], defaultLimits } = read.value;
  const rows = [
    ['NAME', 'STATE', 'EXPIRES', 'FUNCTIONS', 'LIMITS'],
    ...keys.map((entry) => [
      entry.name,
      keyState(entry, Date.now()),
      entry.expiresAt === undefined ? 'never' : new Date(entry.expiresAt).toISOString(),
      (entry.functions ?? ['*']).join(' '),
      limitsText(entry.limits ?? defaultLimits),
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    terminal.out.write(`${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`);
  }
  return 0;
}

function limitsText(limits: CallerLimits | undefined): string {
  const given = Object.entries(LIMITS).flatMap(([member, name]) => {
    const limit = limits?.[name];
    return limit === undefined ? [] : [`${member}=${limit}`];
  });
  return given.length === 0 ? 'none' : given.join(' ');
}

/** Replaces the key of an entry, which keeps its name, functions and limits, and prints the new key once. */
function rotate({ options, terminal }: Invocation, name: string, file: string): ExitCode {
  const { expires } = options;
  const expiry = expires === undefined ? undefined : readExpiry(expires);
  if (expiry?.ok === false) return refuse(terminal, expiry.failure);
  const key = newKey();
  const fault = change(file, name, (entry) => {
    const state = keyState(expiry === undefined ? entry : { ...entry, expiresAt: expiry.value }, Date.now());
    if (state === 'disabled') return 'is disabled. Remove "disabled" from its entry first.';
    if (state === 'expired') return 'has expired. Add --expires with a later time.';
    return { sha256: hash('sha256', key), ...(expires !== undefined && { expires }) };
  });
  if (fault !== undefined) return reportProblem(terminal, fault);
  showKey(terminal, key);
  terminal.error.write(`svc: replaced the key of "${name}" in ${JSON.stringify(file)}; the old key stops working\n`);
  return 0;
}

/** Disables an entry, which stays in the file, so that no other key gets its name by mistake. */
function revoke(terminal: Terminal, name: string, file: string): ExitCode {
  const fault = change(file, name, () => ({ disabled: true }));
  if (fault !== undefined) return reportProblem(terminal, fault);
  terminal.error.write(`svc: disabled "${name}" in ${JSON.stringify(file)}\n`);
  return 0;
}

function newKey(): string {
  return `svc_${randomBytes(32).toString('base64url')}`;
}

function showKey(terminal: Terminal, key: string): void {
  terminal.out.write(`${key}\n`);
  terminal.error.write('svc: this is the only time that svc shows the key; the file contains only its SHA-256\n');
}

interface NewEntry {
  readonly name: string;
  readonly functions?: readonly string[] | undefined;
  readonly expires?: string | undefined;
}

/** Returns a sentence about the first mistake. */
function newEntry(name: string | undefined, options: Invocation['options']): NewEntry | string {
  const fault = nameFault(name);
  if (fault !== undefined || name === undefined) return fault ?? '';
  const { functions, expires } = options;
  if (functions !== undefined && !isFunctionList(functions)) {
    return '--functions takes names of functions, in which "*" matches any text, such as "Chat*".';
  }
  const read = expires === undefined ? undefined : readExpiry(expires);
  if (read?.ok === false) return read.failure;
  return { name, functions, expires: typeof expires === 'string' ? expires : undefined };
}

/** Adds an entry and keeps the comments of the file. Returns a sentence about what prevents it. */
function append(file: string, entry: object): string | undefined {
  const exists = existsSync(file);
  if (exists) {
    const before = readKeys(file);
    if (!before.ok) return before.failure;
  }
  const text = exists ? readFileSync(file, 'utf8') : 'keys: []\n';
  return write(file, isJson(file) ? appendJson(exists ? text : '{"keys":[]}', entry) : appendYaml(text, entry));
}

/** Sets members of an entry and keeps the comments of the file. `decide` returns them, or the end of a sentence about what prevents it. */
function change(file: string, name: string, decide: (entry: KeyEntry) => object | string): string | undefined {
  const before = readKeys(file);
  if (!before.ok) return before.failure;
  const names = (before.value.keys ?? []).map((each) => each.name);
  const index = names.indexOf(name);
  const entry = before.value.keys?.[index];
  if (entry === undefined) return `${JSON.stringify(file)} has no key "${name}". ${didYouMean(name, names)}`.trim();
  const members = decide(entry);
  if (typeof members === 'string') return `"${name}" ${members}`;
  const text = readFileSync(file, 'utf8');
  if (isJson(file)) {
    const content = JSON.parse(text) as { readonly keys: readonly object[] };
    const keys = content.keys.with(index, { ...content.keys[index], ...members });
    return write(file, `${JSON.stringify({ ...content, keys }, undefined, 2)}\n`);
  }
  const document = yamlPackage().parseDocument(text);
  for (const [member, value] of Object.entries(members)) document.setIn(['keys', index, member], value);
  return write(file, document.toString());
}

function isJson(file: string): boolean {
  return file.endsWith('.json');
}

/** Writes a key file if it is valid. Returns a sentence about what prevents it. */
function write(file: string, text: string): string | undefined {
  const after = checkKeys(yamlPackage().parse(text), JSON.stringify(file));
  if (!after.ok) return after.failure;
  try {
    // Only its owner can read a new file.
    replaceFile(file, text, existsSync(file) ? statSync(file).mode : 0o600);
    return undefined;
  } catch (error) {
    return `${JSON.stringify(file)} cannot be written: ${writeFault(error)}`;
  }
}

function appendYaml(text: string, entry: object): string {
  const document = yamlPackage().parseDocument(text);
  const keys = document.get('keys');
  if (yamlPackage().isSeq(keys)) {
    if (keys.items.length === 0) keys.flow = false;
    keys.add(document.createNode(entry));
  } else document.set('keys', document.createNode([entry]));
  return document.toString();
}

/** `readKeys` accepted the text: it is a map, and `keys` a list if there is one. */
function appendJson(text: string, entry: object): string {
  const content = JSON.parse(text) as { readonly keys?: readonly unknown[] };
  return `${JSON.stringify({ ...content, keys: [...(content.keys ?? []), entry] }, undefined, 2)}\n`;
}

function asYaml(entry: object): string {
  return yamlPackage().stringify([entry]);
}
