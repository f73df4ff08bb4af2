import type { MediaKind, Type } from '../../schema/type.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import { typeText } from '../../schema/type-text.ts';

/** More names than these make a message hard to read. */
const MAX_NAMES = 12;

/** Longer text of the caller is cut in messages. */
const MAX_QUOTED = 60;

/** What a type wants, as the end of "expected …". */
export function wanted(type: Type, index: DefinitionIndex): string {
  switch (type.kind) {
    case 'int':
      return 'an int';
    case 'string':
    case 'float':
    case 'bool':
      return `a ${type.kind}`;
    case 'null':
      return 'null';
    case 'literal':
      return JSON.stringify(type.value);
    case 'enum':
      return `one of ${names(index.enums.get(type.name)?.values.map((value) => value.name) ?? [])}`;
    case 'class':
      return `an object of class ${type.name}`;
    case 'list':
      return `a list (${typeText(type)})`;
    case 'map':
      return `an object (${typeText(type)})`;
    case 'media':
      return mediaWanted(type.media);
    case 'alias':
      return `a value of ${type.name}`;
    case 'union':
      return unionWanted(type.members, index);
  }
}

function unionWanted(members: readonly Type[], index: DefinitionIndex): string {
  const literals = members.filter((member) => member.kind === 'literal');
  if (literals.length === members.length) return `one of ${list(literals.map((one) => JSON.stringify(one.value)))}`;
  const [first, second] = members;
  if (members.length === 2 && first !== undefined && second?.kind === 'null') return `${wanted(first, index)} or null`;
  return `one of ${list(members.map(typeText))}`;
}

function mediaWanted(media: MediaKind): string {
  const article = media === 'image' || media === 'audio' ? 'an' : 'a';
  return `${article} ${media} as {"url": …} or {"base64": …, "media_type": …}`;
}

/** What a value is, as the end of "got …". Never the value itself, but for short text where the choice is among names. */
export function found(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'a string';
    case 'boolean':
      return 'a bool';
    case 'number':
      return numberFound(value);
    case 'object':
      return 'an object';
    case 'undefined':
      return 'nothing';
    default:
      return `a ${typeof value}, which is no JSON value`;
  }
}

function numberFound(value: number): string {
  if (!Number.isFinite(value)) return 'a number out of range';
  if (!Number.isInteger(value)) return 'a float';
  return Number.isSafeInteger(value) ? 'an int' : 'a number beyond ±9007199254740991';
}

/** The caller's text in quotes, cut when it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}

/** `"A", "B" or "C"`, with the number of those left out. */
export function names(all: readonly string[]): string {
  return list(all.map((name) => JSON.stringify(name)));
}

function list(items: readonly string[]): string {
  if (items.length > MAX_NAMES) {
    return `${items.slice(0, MAX_NAMES).join(', ')} or ${items.length - MAX_NAMES} more`;
  }
  const last = items.at(-1) ?? 'nothing';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} or ${last}`;
}
