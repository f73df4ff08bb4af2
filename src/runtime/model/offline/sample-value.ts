import type { JsonValue } from '../../../base/json.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { ClassType, EnumType, Type } from '../../../schema/type.ts';

/** Below this depth, lists and maps are empty and unions take their simplest member, so that recursive types end. */
const FULL_DEPTH = 3;

/** The depth at which types without a choice end too: a class tree this deep is longer than any reply. */
const LAST_DEPTH = 24;

const ITEMS = 2;

/**
 * A value of a type in the form of a model's reply (aliases for names, without skipped members). The same seed gives the
 * same value.
 */
export function sampleValue(type: Type, definitions: DefinitionIndex, seed: number): JsonValue {
  return new Sampler(definitions, seed).value(type, 'value', 0);
}

class Sampler {
  readonly #definitions: DefinitionIndex;
  #state: number;

  constructor(definitions: DefinitionIndex, seed: number) {
    this.#definitions = definitions;
    this.#state = seed >>> 0 || 1;
  }

  value(type: Type, name: string, depth: number): JsonValue {
    if (depth > LAST_DEPTH) return null;
    switch (type.kind) {
      case 'string':
        return `${name} ${this.#below(1000)}`;
      case 'int':
        return 1 + this.#below(99);
      case 'float':
        return 0.5 + this.#below(99);
      case 'bool':
        return this.#below(2) === 1;
      case 'null':
      case 'media':
        return null;
      case 'literal':
        return type.value;
      case 'class':
        return this.#object(this.#definitions.classes.get(type.name), depth);
      case 'enum':
        return this.#enumValue(this.#definitions.enums.get(type.name));
      case 'alias':
        return this.#alias(type.name, name, depth);
      case 'list':
        return this.#list(type.element, name, depth);
      case 'map':
        return this.#map(type, name, depth);
      case 'union':
        return this.value(this.#member(type.members, depth), name, depth);
    }
  }

  #object(definition: ClassType | undefined, depth: number): JsonValue {
    const fields = (definition?.fields ?? []).filter((field) => !field.skip);
    return Object.fromEntries(
      fields.map((field) => [field.alias ?? field.name, this.value(field.type, field.name, depth + 1)]),
    );
  }

  #enumValue(definition: EnumType | undefined): JsonValue {
    const values = (definition?.values ?? []).filter((value) => !value.skip);
    const chosen = values[this.#below(values.length)];
    return chosen === undefined ? null : (chosen.alias ?? chosen.name);
  }

  #alias(target: string, name: string, depth: number): JsonValue {
    const alias = this.#definitions.aliases.get(target);
    return alias === undefined ? null : this.value(alias.type, name, depth + 1);
  }

  #list(element: Type, name: string, depth: number): JsonValue {
    if (depth >= FULL_DEPTH) return [];
    return Array.from({ length: ITEMS }, () => this.value(element, name, depth + 1));
  }

  #map(type: Extract<Type, { kind: 'map' }>, name: string, depth: number): JsonValue {
    if (depth >= FULL_DEPTH) return {};
    const keys = this.#keys(type.key);
    return Object.fromEntries(keys.map((key) => [key, this.value(type.value, name, depth + 1)]));
  }

  #keys(type: Type): readonly string[] {
    switch (type.kind) {
      case 'literal':
        return [String(type.value)];
      case 'enum':
        return (this.#definitions.enums.get(type.name)?.values ?? []).slice(0, ITEMS).map((value) => value.name);
      case 'union':
        return type.members.flatMap((member) => this.#keys(member)).slice(0, ITEMS);
      default:
        return ['first', 'second'];
    }
  }

  /** Chooses null only where no other member ends. */
  #member(members: readonly Type[], depth: number): Type {
    const simple = members.filter((member) => isSimple(member));
    const useful = members.filter((member) => member.kind !== 'null' && member.kind !== 'media');
    const choices = depth >= FULL_DEPTH && simple.length > 0 ? simple : useful;
    return choices[this.#below(choices.length)] ?? { kind: 'null' };
  }

  /** xorshift32: small, and the same on every machine. */
  #below(limit: number): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return limit <= 1 ? 0 : this.#state % limit;
  }
}

function isSimple(type: Type): boolean {
  return type.kind !== 'class' && type.kind !== 'alias' && type.kind !== 'list' && type.kind !== 'map';
}

/** FNV-1a over the text. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
