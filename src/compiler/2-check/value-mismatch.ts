import { MEDIA } from '../../schema/type.ts';
import type { Span } from '../../diagnostics/span.ts';
import type { ClassNode, EntryNode, EnumNode, FunctionNode, TypeNode, ValueNode } from '../1-parse/syntax-nodes.ts';
import { hasAttribute } from './node-values.ts';
import type { DefinitionScope } from './scope.ts';

/** The place of a value that does not match its type, and the expected value, such as `a number`. */
export interface ValueMismatch {
  readonly span: Span;
  readonly expected: string;
}

/**
 * The most comparisons of a value with a type. Nested unions double them at each level, and aliases that refer to each
 * other never end. Beyond this limit, the value counts as a match.
 */
const MAX_STEPS = 2000;

/**
 * Returns the first part of an argument that certainly does not match its type. Unknown parts (environment variables,
 * undeclared names, unreadable text) count as a match; so does an undeclared argument, which has its own diagnostic.
 */
export function argumentMismatch(
  { key, value }: EntryNode,
  node: FunctionNode,
  scope: DefinitionScope,
): ValueMismatch | undefined {
  const type = node.parameters.find(({ name }) => name.text === key.text)?.type;
  return type === undefined || value === undefined ? undefined : new MismatchSearch(scope).mismatch(value, type);
}

class MismatchSearch {
  readonly #scope: DefinitionScope;
  #steps = 0;

  constructor(scope: DefinitionScope) {
    this.#scope = scope;
  }

  mismatch(value: ValueNode, type: TypeNode): ValueMismatch | undefined {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) return undefined;
    if (value.kind === 'env' || value.kind === 'expression' || value.kind === 'broken') return undefined;
    switch (type.kind) {
      case 'name':
        return this.#named(value, type.name);
      case 'literal':
        return plainOf(value) === type.value ? undefined : wanted(value, JSON.stringify(type.value));
      case 'optional':
        return value.kind === 'null' ? undefined : this.mismatch(value, type.type);
      case 'list':
        if (value.kind !== 'list') return wanted(value, 'a list');
        return first(value.items, (item) => this.mismatch(item, type.element));
      case 'map':
        if (value.kind !== 'map') return wanted(value, 'a map');
        return first(value.entries, (entry) => entry.value && this.mismatch(entry.value, type.value));
      case 'union':
        return this.#union(value, type.members);
      case 'tuple':
      case 'broken':
        return undefined;
    }
  }

  /** If only one member is not null, its mismatch is more precise than that of the union. */
  #union(value: ValueNode, members: readonly TypeNode[]): ValueMismatch | undefined {
    const mismatches = members.map((member) => this.mismatch(value, member));
    if (mismatches.includes(undefined)) return undefined;
    const others = mismatches.filter((_, index) => !members.slice(index, index + 1).some(isNull));
    return others.length === 1 ? others[0] : wanted(value, 'one of the types of the union');
  }

  #named(value: ValueNode, name: string): ValueMismatch | undefined {
    const expected = EXPECTED.get(name);
    if (expected !== undefined) return expected.fits(value) ? undefined : wanted(value, expected.text);
    if (MEDIA.some((kind) => kind === name)) {
      return value.kind === 'map' ? undefined : wanted(value, 'a map with "url", "file" or "base64"');
    }
    const { classes, enums, aliases } = this.#scope;
    const alias = aliases.get(name);
    if (alias !== undefined) return this.mismatch(value, alias.type);
    const classNode = classes.get(name);
    if (classNode !== undefined) return this.#members(value, classNode);
    const enumNode = enums.get(name);
    return enumNode === undefined ? undefined : valueOfEnum(value, enumNode);
  }

  /** Ignores undeclared fields, as calls do. */
  #members(value: ValueNode, node: ClassNode): ValueMismatch | undefined {
    if (value.kind !== 'map') return wanted(value, `a map with the fields of class "${node.name.text}"`);
    return first(value.entries, (entry) => {
      const type = node.fields.find((field) => field.name.text === entry.key.text)?.type;
      return type === undefined || entry.value === undefined ? undefined : this.mismatch(entry.value, type);
    });
  }
}

const EXPECTED: ReadonlyMap<string, { readonly text: string; readonly fits: (value: ValueNode) => boolean }> = new Map([
  ['string', { text: 'a string', fits: ({ kind }) => kind === 'string' || kind === 'raw-string' }],
  ['int', { text: 'a whole number', fits: (value) => value.kind === 'number' && Number.isInteger(value.value) }],
  ['float', { text: 'a number', fits: ({ kind }) => kind === 'number' }],
  ['bool', { text: 'true or false', fits: ({ kind }) => kind === 'boolean' }],
  ['null', { text: 'null', fits: ({ kind }) => kind === 'null' }],
]);

function isNull(type: TypeNode): boolean {
  return type.kind === 'name' && type.name === 'null';
}

function valueOfEnum(value: ValueNode, node: EnumNode): ValueMismatch | undefined {
  const isOpen = hasAttribute(node.attributes, 'dynamic') || node.broken === true;
  const isValue = node.values.some(({ name }) => name.text === plainOf(value));
  return isOpen || isValue ? undefined : wanted(value, `a value of enum "${node.name.text}"`);
}

function plainOf(value: ValueNode): unknown {
  if (value.kind === 'raw-string') return value.raw.trim();
  return value.kind === 'string' || value.kind === 'number' || value.kind === 'boolean' ? value.value : undefined;
}

function wanted(value: ValueNode, expected: string): ValueMismatch {
  return { span: value.span, expected };
}

function first<T>(items: readonly T[], mismatchOf: (item: T) => ValueMismatch | undefined): ValueMismatch | undefined {
  for (const item of items) {
    const mismatch = mismatchOf(item);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}
