import { MEDIA, PRIMITIVES } from '../build/build-type.ts';
import type { Rule } from '../check-context.ts';
import type { Scope } from '../scope.ts';

/** Types that other languages have, and what stands for them here. */
const FOREIGN = new Map([
  ['str', 'string'],
  ['String', 'string'],
  ['text', 'string'],
  ['integer', 'int'],
  ['number', 'float'],
  ['double', 'float'],
  ['boolean', 'bool'],
  ['Boolean', 'bool'],
  ['None', 'null'],
  ['map', 'map<string, T>'],
  ['list', 'T[]'],
  ['array', 'T[]'],
  ['dict', 'map<string, T>'],
  ['Date', 'string'],
  ['date', 'string'],
  ['datetime', 'string'],
]);

/** What other languages call a value of which nothing is known. */
const UNTYPED = new Set(['any', 'Any', 'object', 'Object', 'unknown', 'json', 'JSON']);

/** A type is a primitive, a media kind, or the name of a class, enum or alias; anything else cannot be checked or parsed. */
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
    const foreign = FOREIGN.get(name);
    const suggestion = UNTYPED.has(name)
      ? 'Every value has a type: declare a class with the fields that it has, or a type such as `string | int`.'
      : (foreign && `Write \`${foreign}\`.`) || suggest(name, known);
    report('check/unknown-type', type.span, { name, suggestion });
  }
};

function otherKind(scope: Scope, name: string): string | undefined {
  if (scope.functions.has(name)) return 'function';
  if (scope.clients.has(name)) return 'client';
  return scope.templateStrings.has(name) ? 'template_string' : undefined;
}
