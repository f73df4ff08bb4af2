import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf, messageOf } from '../../base/invariant.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { mediaTypeOfContent, mediaTypeOfName } from '../../base/media-types.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { resolveValue, type OptionValue } from '../../schema/client.ts';
import type { DefinitionIndex, FunctionType, TestType } from '../../schema/program.ts';
import type { Type } from '../../schema/type.ts';

export interface ArgumentSources {
  readonly definitions: DefinitionIndex;
  readonly env: Readonly<Record<string, string>>;
  /** Receives the path of each file that an argument names. */
  readonly onFile?: (path: string) => void;
}

/**
 * Returns the arguments of a test for one function, as a caller would send them: with the values of variables, and with the
 * content of media files (`{ file "a.png" }`), whose paths are relative to the definition file; or an error message.
 */
export function testArguments(test: TestType, fn: FunctionType, sources: ArgumentSources): Result<JsonObject, string> {
  const reader = new ArgumentReader(dirname(test.span.file), sources);
  const types = new Map(fn.parameters.map(({ name, type }) => [name, type]));
  try {
    const entries = test.args.map(({ key, value }): [string, JsonValue] => {
      const type = types.get(key);
      const plain = reader.value(value);
      return [key, type === undefined ? plain : reader.withFiles(plain, type)];
    });
    return ok(Object.fromEntries(entries));
  } catch (error) {
    if (error instanceof UnreadableArgument) return err(error.message);
    throw error;
  }
}

/** Ends the reading of arguments; no other code sees it. */
class UnreadableArgument extends Error {
  override readonly name = 'UnreadableArgument';
  readonly code = 'unreadable_argument';
}

class ArgumentReader {
  readonly #directory: string;
  readonly #sources: ArgumentSources;

  constructor(directory: string, sources: ArgumentSources) {
    this.#directory = directory;
    this.#sources = sources;
  }

  value(value: OptionValue): JsonValue {
    return resolveValue(value, (variable) => this.#variable(variable));
  }

  /** The value with the content of each media file that it names. */
  withFiles(value: JsonValue, type: Type): JsonValue {
    switch (type.kind) {
      case 'media':
        return isFile(value) ? this.#content(value) : value;
      case 'class':
        return this.#fields(value, type.name);
      case 'list':
        return Array.isArray(value) ? value.map((item: JsonValue) => this.withFiles(item, type.element)) : value;
      case 'map':
        return mapMembers(value, (member) => this.withFiles(member, type.value));
      case 'union':
        return this.#member(value, type.members);
      case 'alias': {
        const alias = this.#sources.definitions.aliases.get(type.name);
        return alias === undefined ? value : this.withFiles(value, alias.type);
      }
      default:
        return value;
    }
  }

  /** Only a member that is media changes an object; a class can have a field called `file` itself. */
  #member(value: JsonValue, members: readonly Type[]): JsonValue {
    const classes = members.flatMap((type) => (type.kind === 'class' ? [type.name] : []));
    const known = classes.map((name) => this.#sources.definitions.classes.get(name));
    if (isFile(value) && known.some((type) => type?.fields.some(({ name }) => name === 'file') === true)) return value;
    return members.reduce<JsonValue>((changed, member) => this.withFiles(changed, member), value);
  }

  #fields(value: JsonValue, className: string): JsonValue {
    const fields = this.#sources.definitions.classes.get(className)?.fields ?? [];
    const types = new Map(fields.map(({ name, type }) => [name, type]));
    return mapMembers(value, (member, key) => {
      const type = types.get(key);
      return type === undefined ? member : this.withFiles(member, type);
    });
  }

  #variable(name: string): string {
    const { env } = this.#sources;
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && value !== '') return value;
    throw new UnreadableArgument(`the arguments read env.${name}, but ${name} is not set. Set it, or add it to .env`);
  }

  #content({ file, media_type: given }: MediaFile): JsonObject {
    const path = resolve(this.#directory, file);
    this.#sources.onFile?.(path);
    const content = readMedia(path, file);
    const mediaType = given ?? mediaTypeOfName(file) ?? mediaTypeOfContent(content);
    if (mediaType === undefined) {
      throw new UnreadableArgument(
        `the type of the file "${file}" is unknown. Add its "media_type", such as "image/png"`,
      );
    }
    return { base64: content.toString('base64'), media_type: mediaType };
  }
}

function readMedia(path: string, file: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT';
    const reason = missing ? `does not exist: svc looked for "${path}"` : `cannot be read: ${messageOf(error)}`;
    throw new UnreadableArgument(`the file "${file}" ${reason}`);
  }
}

interface MediaFile {
  readonly file: string;
  readonly media_type?: string;
}

function isFile(value: unknown): value is MediaFile {
  if (!isJsonObject(value) || typeof value['file'] !== 'string') return false;
  return value['media_type'] === undefined || typeof value['media_type'] === 'string';
}

function mapMembers(value: JsonValue, change: (member: JsonValue, key: string) => JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(entries.map(([key, member]) => [key, change(member, key)]));
}
