import { hash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { replaceFile, writeFault } from '../../base/write-file.ts';
import { checkKeys, isFunctionList, nameFault, readExpiry, readKeys } from '../../config/read-keys.ts';
import { yamlPackage } from '../../config/read-yaml.ts';
import type { Invocation } from '../invocation.ts';
import { refuse, reportProblem, type ExitCode } from '../terminal.ts';

/** `svc keys create NAME`: prints a new key once, and the entry for the key file; `--keys FILE` adds the entry to the file. */
export function keysCommand({ options, paths, terminal }: Invocation): ExitCode {
  const [action, name] = paths;
  if (action !== 'create') return refuse(terminal, `there is no "svc keys ${action}". Use "svc keys create NAME".`);
  const entry = newEntry(name, options);
  if (typeof entry === 'string') return refuse(terminal, entry);
  const key = `svc_${randomBytes(32).toString('base64url')}`;
  const { functions, expires } = entry;
  const complete = {
    name: entry.name,
    sha256: hash('sha256', key),
    ...(functions !== undefined && { functions }),
    ...(expires !== undefined && { expires }),
  };
  const file = typeof options['keys'] === 'string' ? options['keys'] : undefined;
  const fault = file === undefined ? undefined : append(file, complete);
  if (fault !== undefined) return reportProblem(terminal, fault);
  terminal.out.write(`${key}\n`);
  terminal.error.write('svc: this is the only time that svc shows the key; the file contains only its SHA-256\n');
  if (file === undefined)
    terminal.error.write(`Add this entry to the list "keys" of your key file:\n\n${asYaml(complete)}`);
  else terminal.error.write(`svc: added "${entry.name}" to ${JSON.stringify(file)}\n`);
  return 0;
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
  const added = file.endsWith('.json') ? appendJson(exists ? text : '{"keys":[]}', entry) : appendYaml(text, entry);
  const after = checkKeys(yamlPackage().parse(added), JSON.stringify(file));
  if (!after.ok) return after.failure;
  try {
    // Only its owner can read a new file.
    replaceFile(file, added, exists ? statSync(file).mode : 0o600);
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
