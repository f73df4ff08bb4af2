import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { err, ok, type Result } from '../base/result.ts';
import { readFault } from './environment.ts';

/** Reads a file in YAML or JSON. The failure is one sentence that begins with the file's name. */
export function readYaml(path: string): Result<unknown, string> {
  const file = JSON.stringify(path);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return err(`${file} cannot be read: ${readFault(error)}. Pass an existing file.`);
  }
  const parsed = parsedYaml(text);
  return parsed.ok ? parsed : err(`${file} is neither YAML nor JSON: ${parsed.failure}`);
}

/** The first line of a message states the reason and the position; a code frame follows it. */
function parsedYaml(text: string): Result<unknown, string> {
  const document = yamlPackage().parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) return err(firstLine(error.message));
  try {
    return ok(document.toJS());
  } catch (failure) {
    // An alias without an anchor, or too many aliases.
    return err(failure instanceof Error ? firstLine(failure.message) : 'it cannot be read');
  }
}

function firstLine(message: string): string {
  return `${message.split('\n')[0]?.replace(/[:.]$/u, '') ?? ''}.`;
}

/** An alias can put a map into itself, and JSON has no infinite numbers. */
export function shownValue(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'a map';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

const load = createRequire(import.meta.url);

/** Loads the package `yaml` on first use, because most commands, and library users who pass no file, do not need it. */
export function yamlPackage(): typeof Yaml {
  return load('yaml') as typeof Yaml;
}
