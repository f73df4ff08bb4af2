import { typeHint } from '../../1-parse/other-languages.ts';
import { MEDIA, PRIMITIVES } from '../../../schema/type.ts';
import type { Rule } from '../check-context.ts';
import type { DefinitionScope } from '../scope.ts';
import { hasAttribute } from '../node-values.ts';

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
