import { didYouMeanOneOf } from '../../../base/suggestion.ts';
import { attributeHint } from '../../1-parse/other-languages.ts';
import type { AttributeNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import type { AttributePlace } from '../scope.ts';

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
    const suggestion = attributeHint(node.name) ?? didYouMeanOneOf(name, known);
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
