import { adviceForType } from '../../1-parse/foreign-types.ts';
import { MEDIA, PRIMITIVES } from '../build/build-type.ts';
import type { Rule } from '../check-context.ts';
import type { DefinitionScope } from '../scope.ts';
import { hasAttribute } from '../build/text-of.ts';

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
    // A name with a capital letter is rather a misspelt class.
    const isOwn = /^[A-Z]/u.test(name);
    const suggestion = (isOwn && suggest(name, known)) || adviceForType(name) || suggest(name, known);
    report('check/unknown-type', type.span, { name, suggestion });
  }
};

function otherKind(scope: DefinitionScope, name: string): string | undefined {
  if (scope.functions.has(name)) return 'function';
  if (scope.clients.has(name)) return 'client';
  return scope.templateStrings.has(name) ? 'template_string' : undefined;
}

/** `(A, B)` can be written but neither be shown to a model nor be parsed. */
export const noTuples: Rule = ({ types, report }) => {
  for (const type of types) if (type.kind === 'tuple') report('check/tuple-type', type.span, {});
};

/** An enum without values, or with skipped ones only, is a question without an answer. */
export const emptyEnums: Rule = ({ scope, report }) => {
  for (const node of scope.enums.values()) {
    const isOpen = hasAttribute(node.attributes, 'dynamic') || node.broken === true;
    if (isOpen || node.values.some((value) => !hasAttribute(value.attributes, 'skip'))) continue;
    report('check/empty-enum', node.name.span, { name: node.name.text });
  }
};
