import { stronglyConnected } from '../../../base/strongly-connected.ts';
import { typeHint } from '../../1-parse/other-languages.ts';
import type { TypeNode } from '../../1-parse/syntax-nodes.ts';
import { MEDIA, PRIMITIVES } from '../build/build-type.ts';
import type { Rule } from '../check-context.ts';
import { hasAttribute } from '../node-values.ts';
import type { DefinitionScope } from '../scope.ts';
import { innerTypes, referencedNames, walkType } from '../walk-types.ts';

/** A type is a primitive, a media kind, or the name of a class, enum or alias. */
export const unknownType: Rule = ({ types, scope, report, suggest }) => {
  const builtIn: readonly string[] = [...PRIMITIVES, ...MEDIA];
  const known = [...builtIn, ...scope.typeNames];
  for (const type of types) {
    if (type.kind !== 'name' || scope.hasType(type.name) || builtIn.includes(type.name)) continue;
    const { name } = type;
    const what = otherKind(scope, name);
    if (what !== undefined) {
      report('check/not-a-type', type.span, { name, what });
      continue;
    }
    // A name with a capital letter is probably a misspelt class.
    const isCapitalized = /^[A-Z]/u.test(name);
    const suggestion = (isCapitalized && suggest(name, known)) || typeHint(name) || suggest(name, known);
    report('check/unknown-type', type.span, { name, suggestion });
  }
};

function otherKind(scope: DefinitionScope, name: string): string | undefined {
  if (scope.functions.has(name)) return 'function';
  if (scope.clients.has(name)) return 'client';
  return scope.templateStrings.has(name) ? 'template_string' : undefined;
}

/** There are no tuples: the syntax `(A, B)` exists, but svc can neither describe them to a model nor parse them. */
export const noTuples: Rule = ({ types, report }) => {
  for (const type of types) if (type.kind === 'tuple') report('check/tuple-type', type.span, {});
};

/** An enum has a value that is not skipped: otherwise a model has no valid reply. */
export const emptyEnums: Rule = ({ scope, report }) => {
  for (const node of scope.enums.values()) {
    const isOpen = hasAttribute(node.attributes, 'dynamic') || node.broken === true;
    if (isOpen || node.values.some((value) => !hasAttribute(value.attributes, 'skip'))) continue;
    report('check/empty-enum', node.name.span, { name: node.name.text });
  }
};

// --- size ------------------------------------------------------------------------------------------------------------

/**
 * Far above the types that people write, and far below the limits of memory: thirty aliases that each double the last
 * have 2^30 parts.
 */
const MAX_PARTS = 10_000;
/** The longest chain of aliases, which is the recursion depth of the rules that follow them. */
const MAX_CHAIN = 100;

interface Size {
  readonly parts: number;
  readonly chain: number;
}

const SINGLE: Size = { parts: 1, chain: 0 };

/**
 * Types have a bounded size after the replacement of aliases by their targets, which can grow exponentially. This rule
 * runs first, and the checker applies no other rule if it is broken.
 */
export const typeSize: Rule = ({ scope, aliases, report }) => {
  const sizes = new Map<string, Size>();
  for (const name of aliases.usedFirst) {
    const alias = scope.aliases.get(name);
    if (alias === undefined || aliases.recursive.has(name)) continue;
    const { parts, chain } = sizeOf(alias.type, sizes);
    const tooLarge = parts > MAX_PARTS || chain >= MAX_CHAIN;
    if (tooLarge) report('check/type-too-large', alias.name.span, { name, limit: MAX_PARTS });
    // Counts as small from here on, so that the types that use it are not reported as well.
    sizes.set(name, tooLarge ? SINGLE : { parts, chain: chain + 1 });
  }
};

function sizeOf(type: TypeNode, sizes: ReadonlyMap<string, Size>): Size {
  if (type.kind === 'name') return sizes.get(type.name) ?? SINGLE;
  const parts = innerTypes(type).map((part) => sizeOf(part, sizes));
  return sum(type.kind === 'optional' ? [...parts, SINGLE] : parts);
}

function sum(sizes: readonly Size[]): Size {
  const parts = sizes.reduce((total, size) => total + size.parts, 1);
  const chain = sizes.reduce((longest, size) => Math.max(longest, size.chain), 0);
  return { parts, chain };
}

// --- keys of maps ----------------------------------------------------------------------------------------------------

/**
 * The key of a map is `string`, an enum, a literal string, or a union of literal strings, because keys of JSON objects
 * are strings. svc reads numbers and booleans as strings, with a warning.
 */
export const mapKeys: Rule = ({ types, scope, aliases, report }) => {
  for (const type of types) {
    if (type.kind !== 'map' || isKey(type.key, scope, aliases.recursive)) continue;
    const { key } = type;
    if (key.kind === 'name' && SCALARS.has(key.name)) report('check/map-key-text', key.span, { name: key.name });
    else report('check/map-key', key.span, {});
  }
};

const SCALARS = new Set(['int', 'float', 'bool']);

function isKey(type: TypeNode, scope: DefinitionScope, recursive: ReadonlySet<string>): boolean {
  switch (type.kind) {
    case 'name': {
      const alias = scope.aliases.get(type.name);
      if (alias !== undefined) return !recursive.has(type.name) && isKey(alias.type, scope, recursive);
      // Another rule reports unknown types.
      return type.name === 'string' || scope.enums.has(type.name) || isUnknown(type.name, scope);
    }
    case 'literal':
      return typeof type.value === 'string';
    case 'union':
      return type.members.every((member) => isKey(member, scope, recursive));
    case 'broken':
      return true;
    case 'list':
    case 'map':
    case 'optional':
    case 'tuple':
      return false;
  }
}

function isUnknown(name: string, scope: DefinitionScope): boolean {
  return !scope.hasType(name) && /^[A-Z]/.test(name);
}

// --- cycles ----------------------------------------------------------------------------------------------------------

/** A class does not require a value of itself, directly or through other classes: such a value would never end. */
export const classCycles: Rule = ({ scope, aliases, reportCycle }) => {
  const required = (name: string): readonly string[] =>
    (scope.classes.get(name)?.fields ?? []).flatMap((field) =>
      field.type === undefined ? [] : requiredClasses(field.type, scope, aliases.recursive),
    );
  for (const group of stronglyConnected([...scope.classes.keys()], required)) {
    const nodes = group.flatMap((name) => scope.classes.get(name) ?? []);
    reportCycle('check/class-cycle', nodes);
  }
};

/**
 * Returns the classes that every value of a type must contain. A union requires the classes that all of its members
 * require.
 */
function requiredClasses(type: TypeNode, scope: DefinitionScope, recursive: ReadonlySet<string>): readonly string[] {
  if (type.kind === 'union') {
    const members = type.members.map((member) => requiredClasses(member, scope, recursive));
    return (members[0] ?? []).filter((name) => members.every((member) => member.includes(name)));
  }
  if (type.kind !== 'name') return [];
  if (scope.classes.has(type.name)) return [type.name];
  const alias = scope.aliases.get(type.name);
  return alias === undefined || recursive.has(type.name) ? [] : requiredClasses(alias.type, scope, recursive);
}

/** An alias refers to itself only inside a list or a map: otherwise it has no value. */
export const aliasCycles: Rule = ({ aliases, reportCycle }) => {
  for (const group of aliases.endless) reportCycle('check/alias-cycle', group);
};

// --- media -----------------------------------------------------------------------------------------------------------

/** Return types contain no image, audio, pdf or video, because a model replies with text. */
export const mediaOutput: Rule = ({ scope, report }) => {
  // Skips types that an earlier function returns, so that each place is reported once.
  const seen = new Set<string>();
  for (const node of scope.functions.values()) {
    if (node.returns === undefined) continue;
    for (const type of newTypes(node.returns, scope, seen)) {
      const media = MEDIA.find((kind) => type.kind === 'name' && type.name === kind);
      if (media === undefined) continue;
      const related = type === node.returns ? [] : [{ span: node.returns.span, message: 'returned here' }];
      report('check/media-output', type.span, { name: node.name.text, media }, related);
    }
  }
};

/** Returns all types inside a type, and inside the classes and aliases that it reaches, except those in `seen`. */
function newTypes(root: TypeNode, scope: DefinitionScope, seen: Set<string>): readonly TypeNode[] {
  const found: TypeNode[] = [];
  const waiting: TypeNode[] = [root];
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    walkType(type, (inner) => found.push(inner));
    for (const name of referencedNames(type, true)) {
      if (seen.has(name)) continue;
      seen.add(name);
      const alias = scope.aliases.get(name);
      if (alias !== undefined) waiting.push(alias.type);
      for (const field of scope.classes.get(name)?.fields ?? []) if (field.type !== undefined) waiting.push(field.type);
    }
  }
  return found;
}
