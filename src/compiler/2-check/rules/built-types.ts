import type { DeclarationNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import { MEDIA, PRIMITIVES } from '../../../schema/type.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { type DefinitionScope, typeSites, walkType } from '../scope.ts';

/**
 * The definitions in the `type_builder` of a test refer to types of the files or of the same block, and have different
 * names. They extend definitions only for that test, and the server runs no tests, so a mistake is a warning.
 */
export const builtTypes: Rule = (context) => {
  for (const test of context.scope.tests) {
    const own = new Set(test.types.map(({ name }) => name.text));
    for (const node of test.types) checkNode(context, node, own);
    context.reportDuplicates(
      'check/duplicate-built-type',
      test.types.map(({ name }) => name),
    );
  }
};

function checkNode(context: CheckContext, node: DeclarationNode, own: ReadonlySet<string>): void {
  for (const { type } of typeSites(node)) walkType(type, (inner) => checkName(context, inner, own));
}

function checkName({ scope, report, suggest }: CheckContext, type: TypeNode, own: ReadonlySet<string>): void {
  if (type.kind !== 'name' || own.has(type.name) || scope.hasType(type.name) || BUILT_IN.has(type.name)) return;
  const suggestion = suggest(type.name, namesAround(scope, own));
  report('check/unknown-built-type', type.span, { name: type.name, suggestion });
}

function* namesAround(scope: DefinitionScope, own: ReadonlySet<string>): Iterable<string> {
  yield* own;
  yield* scope.typeNames;
  yield* BUILT_IN;
}

const BUILT_IN: ReadonlySet<string> = new Set([...PRIMITIVES, ...MEDIA]);
