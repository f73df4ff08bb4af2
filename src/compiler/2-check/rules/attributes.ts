import { didYouMean } from '../../../base/suggestion.ts';
import { attributeHint } from '../../1-parse/other-languages.ts';
import type { AttributeNode, NameNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { eachDuplicate } from '../each-duplicate.ts';
import { attributeString, hasAttribute } from '../node-values.ts';
import type { DefinitionScope } from '../scope.ts';
import type { AttributePlace } from '../walk-types.ts';

type Effect = 'effect' | 'none' | 'error';

/**
 * The effect of each attribute by place; unlisted places are errors. Attributes of blocks have two at signs, all others
 * one.
 */
export const ATTRIBUTES: Readonly<Record<string, Partial<Record<AttributePlace, Effect>>>> = {
  alias: { field: 'effect', 'enum-value': 'effect', enum: 'effect', class: 'effect' },
  description: { field: 'effect', 'enum-value': 'effect', class: 'effect', enum: 'none' },
  skip: { field: 'effect', 'enum-value': 'effect', class: 'none', enum: 'none' },
  assert: everywhere(),
  check: everywhere(),
  dynamic: { class: 'effect', enum: 'effect' },
  'stream.done': { ...inTypes(), field: 'effect', class: 'effect', enum: 'none', 'enum-value': 'none' },
  'stream.not_null': {
    field: 'effect',
    class: 'none',
    enum: 'none',
    return: 'none',
    alias: 'none',
    'enum-value': 'none',
  },
  'stream.with_state': { ...inTypes(), field: 'effect', class: 'none', enum: 'none', 'enum-value': 'none' },
};

/** Places where an unsuitable attribute is only a warning. */
const LENIENT: ReadonlySet<AttributePlace> = new Set(['parameter', 'return', 'inner-type']);

/** The places of attributes, in words. */
export const PLACES: Readonly<Record<AttributePlace, string>> = {
  field: 'a field',
  'enum-value': 'an enum value',
  class: 'a class',
  enum: 'an enum',
  alias: 'a type alias',
  parameter: 'a parameter',
  return: 'a return type',
  'inner-type': 'a type inside another type',
  test: 'a test',
};
const BLOCKS: ReadonlySet<AttributePlace> = new Set(['class', 'enum', 'test']);

/** Attributes are known and in a suitable place: others would silently do nothing. */
export const knownAttributes: Rule = (context) => {
  for (const { place, attributes } of context.attributeSites) {
    for (const attribute of attributes) checkAttribute(context, attribute, place);
  }
};

function checkAttribute({ report }: CheckContext, node: AttributeNode, place: AttributePlace): void {
  const at = BLOCKS.has(place) ? '@@' : '@';
  const name = `${node.block ? '@@' : '@'}${node.name}`;
  const effects = Object.hasOwn(ATTRIBUTES, node.name) ? ATTRIBUTES[node.name] : undefined;
  if (effects === undefined) {
    const known = Object.keys(ATTRIBUTES).map((each) => at + each);
    const suggestion = attributeHint(node.name) ?? didYouMean(name, known);
    report('check/unknown-attribute', node.span, { name, suggestion });
    return;
  }
  const effect = node.block === BLOCKS.has(place) ? (effects[place] ?? missing(place)) : 'error';
  if (effect === 'none') report('check/attribute-no-effect', node.span, { name, place: PLACES[place] });
  if (effect !== 'error') return;
  const better = effects[place] === undefined ? placesOf(effects) : `Write "${at}${node.name}".`;
  report('check/attribute-level', node.span, { name, place: PLACES[place], better });
}

function missing(place: AttributePlace): Effect {
  return LENIENT.has(place) ? 'none' : 'error';
}

function placesOf(effects: Partial<Record<AttributePlace, Effect>>): string {
  const places = Object.entries(PLACES)
    .filter(([place]) => effects[place as AttributePlace] === 'effect')
    .map(([, text]) => text);
  const head = places.slice(0, -1).join(', ');
  return `Use it on ${head === '' ? '' : `${head} or `}${places.at(-1)}.`;
}

function inTypes(): Partial<Record<AttributePlace, Effect>> {
  return { return: 'effect', 'inner-type': 'effect', alias: 'effect' };
}

function everywhere(): Partial<Record<AttributePlace, Effect>> {
  return {
    ...inTypes(),
    field: 'effect',
    class: 'effect',
    parameter: 'effect',
    test: 'effect',
    enum: 'effect',
    'enum-value': 'none',
  };
}

// --- arguments -------------------------------------------------------------------------------------------------------

const WITH_STRING = new Set(['alias', 'description']);
const WITHOUT_ARGUMENTS = new Set(['skip', 'dynamic', 'stream.done', 'stream.not_null', 'stream.with_state']);

/**
 * `@alias` and `@description` take one string, and other attributes take no arguments; constraints have their own rule.
 */
export const attributeArguments: Rule = (context) => {
  for (const { attributes } of context.attributeSites) {
    for (const attribute of attributes) {
      if (WITH_STRING.has(attribute.name)) checkString(context, attribute);
      else if (WITHOUT_ARGUMENTS.has(attribute.name) && attribute.arguments.length > 0) {
        context.report('check/attribute-arguments', attribute.span, {
          name: spelledName(attribute),
          expected: 'no argument',
        });
      }
    }
  }
};

function checkString({ options, report }: CheckContext, node: AttributeNode): void {
  const [value] = node.arguments;
  if (value?.kind === 'broken') return;
  const text = attributeString([node], node.name, options.variables);
  if (value?.kind === 'env' && text === undefined) {
    report('check/attribute-env', value.span, { name: spelledName(node), variable: value.variable });
    return;
  }
  if (text === undefined || node.arguments.length !== 1) {
    report('check/attribute-arguments', node.span, { name: spelledName(node), expected: 'one string' });
  } else if (node.name === 'alias' && text.trim() === '') report('check/empty-alias', node.span, {});
  else if (value?.kind === 'string' && !value.quoted && /^[\u2018-\u201F]/u.test(text)) {
    report('check/curly-quotes', value.span, {});
  }
}

function spelledName(node: AttributeNode): string {
  return `${node.block ? '@@' : '@'}${node.name}`;
}

// --- aliases ---------------------------------------------------------------------------------------------------------

interface Member {
  readonly name: NameNode;
  readonly attributes: readonly AttributeNode[];
}

/**
 * Members of a class or enum have different aliases: the model sees only the alias, so a reply could not distinguish
 * them.
 */
export const aliasCollisions: Rule = (context) => {
  for (const node of context.scope.classes.values()) reportCollisions(context, node.fields);
  for (const node of context.scope.enums.values()) reportCollisions(context, node.values);
};

function reportCollisions({ report, options }: CheckContext, members: readonly Member[]): void {
  const aliasOf = ({ name, attributes }: Member): string =>
    attributeString(attributes, 'alias', options.variables) ?? name.text;
  const visible = members.filter(({ attributes }) => !hasAttribute(attributes, 'skip'));
  eachDuplicate(visible, aliasOf, (member, { name: first }) => {
    const { name } = member;
    // Members with the same name have their own diagnostic.
    if (first.text === name.text) return;
    const names = { alias: aliasOf(member), first: first.text, second: name.text };
    report('check/alias-collision', name.span, names, [{ span: first.span, message: 'the first one' }]);
  });
}

// --- skipped fields --------------------------------------------------------------------------------------------------

/** A skipped field is optional, because a model never fills it. */
export const skippedFields: Rule = ({ scope, aliases, report }) => {
  for (const node of scope.classes.values()) {
    for (const field of node.fields) {
      if (field.type === undefined || !hasAttribute(field.attributes, 'skip')) continue;
      if (isOptional(field.type, scope, aliases.recursive)) continue;
      report('check/skip-required', field.name.span, { name: field.name.text });
    }
  }
};

function isOptional(type: TypeNode, scope: DefinitionScope, recursive: ReadonlySet<string>): boolean {
  if (type.kind === 'optional' || type.kind === 'broken') return true;
  if (type.kind === 'union') return type.members.some((member) => isOptional(member, scope, recursive));
  if (type.kind !== 'name') return false;
  const alias = scope.aliases.get(type.name);
  if (alias === undefined || recursive.has(type.name)) return type.name === 'null';
  return isOptional(alias.type, scope, recursive);
}
