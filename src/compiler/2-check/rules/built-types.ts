import type { DeclarationNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import { PRIMITIVES } from '../build-definitions.ts';
import { MEDIA } from '../value-mismatch.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { eachDuplicate } from '../node-values.ts';
import { type DefinitionScope, walkType } from '../scope.ts';

/**
 * The definitions in the `type_builder` of a test refer to types of the files or of the same block, and have different
 * names. They extend definitions only for that test, and the server runs no tests, so a mistake is a warning.
 */
export const builtTypes: Rule = (context) => {
  for (const test of context.scope.tests) {
    const own = new Set(test.types.map(({ name }) => name.text));
    for (const node of test.types) checkNode(context, node, own);
    eachDuplicate(
      test.types,
      ({ name }) => name.text,
      ({ name }, first) => {
        const related = [{ span: first.name.span, message: 'the first one' }];
        context.report('check/duplicate-built-type', name.span, { name: name.text }, related);
      },
    );
  }
};

function checkNode(context: CheckContext, node: DeclarationNode, own: ReadonlySet<string>): void {
  const types: (TypeNode | undefined)[] = [];
  if (node.kind === 'class') types.push(...node.fields.map((field) => field.type));
  if (node.kind === 'alias') types.push(node.type);
  for (const type of types) if (type !== undefined) walkType(type, (inner) => checkName(context, inner, own));
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
