import type { DeclarationNode } from '../../1-parse/syntax-nodes.ts';
import type { Rule } from '../check-context.ts';
import { eachDuplicate } from '../duplicates.ts';

const WORDS: Readonly<Record<DeclarationNode['kind'], string>> = {
  class: 'a class',
  enum: 'an enum',
  alias: 'a type',
  function: 'a function',
  workflow: 'a function',
  template_string: 'a template_string',
  client: 'a client',
  retry_policy: 'a retry policy',
  generator: 'a generator',
  test: 'a test',
};

/**
 * Everything that a type, a prompt or a request can name needs its own name. Retry policies and generators have separate
 * namespaces. With two declarations of one name, it would be arbitrary which one applies.
 */
export const uniqueNames: Rule = ({ scope, report }) => {
  const shared = scope.declarations.filter(
    (node) => node.kind !== 'test' && node.kind !== 'retry_policy' && node.kind !== 'generator',
  );
  for (const group of [shared, scope.ofKind('retry_policy'), scope.generators]) {
    eachDuplicate<DeclarationNode>(
      group,
      (node) => node.name,
      (node, first) => {
        const related = [{ span: first.name.span, message: `first declared here, as ${WORDS[first.kind]}` }];
        report('check/duplicate-name', node.name.span, { name: node.name.text, what: WORDS[node.kind] }, related);
      },
    );
  }
};
