import type { MediaKind, Type } from '../../schema/type.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import { typeText } from '../../schema/type-text.ts';

/** A message with more names is hard to read. */
const MAX_NAMES = 12;

/** Messages cut longer strings of the caller. */
const MAX_QUOTED = 60;

/** Describes the values of a type, to follow "expected". */
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
      return enumWanted(type.name, index);
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

/** As an argument, a `@@dynamic` enum accepts every string. */
function enumWanted(name: string, index: DefinitionIndex): string {
  const { dynamic = false, values = [] } = index.enums.get(name) ?? {};
  return dynamic ? `a value of ${name} as a string` : `one of ${names(values.map((value) => value.name))}`;
}

function mediaWanted(media: MediaKind): string {
  const article = media === 'image' || media === 'audio' ? 'an' : 'a';
  return `${article} ${media} as {"url": …} or {"base64": …, "media_type": …}`;
}

/** Describes a value, to follow "got", without its content. */
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
      return `a ${typeof value}, which is not a JSON value`;
  }
}

function numberFound(value: number): string {
  if (!Number.isFinite(value)) return 'a number out of range';
  if (!Number.isInteger(value)) return 'a float';
  return Number.isSafeInteger(value) ? 'an int' : `a number beyond ±${Number.MAX_SAFE_INTEGER}, the bounds of an int`;
}

/** A string of the caller in quotes; cut if it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}

/** `"A", "B" or "C"`; a long list ends with the number of the others. */
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
