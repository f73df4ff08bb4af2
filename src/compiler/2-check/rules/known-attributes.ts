import { didYouMean } from '../../../base/suggestion.ts';
import type { AttributeNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import type { AttributePlace } from '../walk-types.ts';

type Effect = 'effect' | 'none' | 'error';

/** Where each attribute may stand; `error` where it is not listed. Blocks take two at signs, everything else one. */
const EFFECTS: Readonly<Record<string, Partial<Record<AttributePlace, Effect>>>> = {
  alias: { field: 'effect', 'enum-value': 'effect', enum: 'effect', class: 'effect' },
  description: { field: 'effect', 'enum-value': 'effect', class: 'effect', enum: 'none' },
  skip: { field: 'effect', 'enum-value': 'effect' },
  assert: everywhere(),
  check: everywhere(),
  dynamic: { class: 'effect', enum: 'effect' },
  'stream.done': { field: 'effect', class: 'effect', return: 'effect', 'inner-type': 'effect', enum: 'none' },
  'stream.not_null': { field: 'effect', class: 'none', enum: 'none', return: 'none' },
  'stream.with_state': { field: 'effect', return: 'effect', 'inner-type': 'effect', class: 'none', enum: 'none' },
};

/** Attributes other than constraints that are written on parameters or inside of types are read by nobody. */
const LENIENT: ReadonlySet<AttributePlace> = new Set(['parameter', 'return', 'inner-type']);

const PLACES: Readonly<Record<AttributePlace, string>> = {
  field: 'a field',
  'enum-value': 'an enum value',
  class: 'a class',
  enum: 'an enum',
  alias: 'a type alias',
  parameter: 'a parameter',
  return: 'a return type',
  'inner-type': 'a type inside of another one',
  test: 'a test',
};
const BLOCKS: ReadonlySet<AttributePlace> = new Set(['class', 'enum', 'test']);

/** Attributes that people expect, and what does that here. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['optional', 'A field is optional when its type ends in "?".'],
  ['nullable', 'A field can be null when its type ends in "?".'],
  ['required', 'Every field is required whose type does not end in "?".'],
  ['default', 'Fields have no default values: a type that ends in "?" is optional.'],
  ['name', 'Write `@alias("…")`.'],
  ['rename', 'Write `@alias("…")`.'],
  ['desc', 'Write `@description("…")`.'],
  ['doc', 'Write `@description("…")`.'],
  ['comment', 'Write `@description("…")`.'],
  ['ignore', 'Write `@skip`.'],
  ['exclude', 'Write `@skip`.'],
  ['min', 'Write `@assert({{ this >= 0 }})`.'],
  ['max', 'Write `@assert({{ this <= 0 }})`.'],
  ['regex', 'Write `@assert({{ this|regex_match("…") }})`.'],
  ['pattern', 'Write `@assert({{ this|regex_match("…") }})`.'],
  ['validate', 'Write `@assert({{ … }})`.'],
  ['stream', 'There are `@stream.done`, `@stream.not_null` and `@stream.with_state`.'],
]);

/** There is a fixed set of attributes, and each has its places: a misspelt one would silently do nothing. */
export const knownAttributes: Rule = (context) => {
  for (const { place, attributes } of context.attributeSites) {
    for (const attribute of attributes) checkAttribute(context, attribute, place);
  }
};

function checkAttribute({ report }: CheckContext, node: AttributeNode, place: AttributePlace): void {
  const at = BLOCKS.has(place) ? '@@' : '@';
  const name = `${node.block ? '@@' : '@'}${node.name}`;
  const effects = Object.hasOwn(EFFECTS, node.name) ? EFFECTS[node.name] : undefined;
  if (effects === undefined) {
    const known = Object.keys(EFFECTS).map((each) => at + each);
    const suggestion = FOREIGN.get(node.name.toLowerCase()) ?? didYouMean(name, known);
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
  const places = Object.entries(PLACES).filter(([place]) => effects[place as AttributePlace] === 'effect');
  return `It belongs on ${places.map(([, text]) => text).join(' or ')}.`;
}

function everywhere(): Partial<Record<AttributePlace, Effect>> {
  return {
    field: 'effect',
    class: 'effect',
    alias: 'effect',
    parameter: 'effect',
    return: 'effect',
    'inner-type': 'effect',
    test: 'effect',
    enum: 'effect',
  };
}
