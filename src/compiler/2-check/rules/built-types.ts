import type { DeclarationNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import { MEDIA, PRIMITIVES } from '../build/build-type.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { eachDuplicate } from '../duplicates.ts';
import { walkType } from '../walk-types.ts';

/**
 * The definitions in the `type_builder` of a test name types of the files or of each other, each once. They extend
 * definitions for that test alone, and tests are not run here: a mistake is a warning.
 */
export const builtTypes: Rule = (context) => {
  for (const test of context.scope.tests) {
    const own = test.types.map(({ name }) => name.text);
    const known = new Set<string>([...PRIMITIVES, ...MEDIA, ...context.scope.typeNames, ...own]);
    for (const node of test.types) checkNode(context, node, known);
    eachDuplicate(
      test.types,
      ({ name }) => name,
      ({ name }, first) => {
        const related = [{ span: first.name.span, message: 'the first one' }];
        context.report('check/duplicate-built-type', name.span, { name: name.text }, related);
      },
    );
  }
};

function checkNode(context: CheckContext, node: DeclarationNode, known: ReadonlySet<string>): void {
  const types: (TypeNode | undefined)[] = [];
  if (node.kind === 'class') types.push(...node.fields.map((field) => field.type));
  if (node.kind === 'alias') types.push(node.type);
  for (const type of types) {
    if (type === undefined) continue;
    walkType(type, (inner) => {
      if (inner.kind !== 'name' || known.has(inner.name)) return;
      const suggestion = context.suggest(inner.name, known);
      context.report('check/unknown-built-type', inner.span, { name: inner.name, suggestion });
    });
  }
}
