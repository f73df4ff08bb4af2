import type { DeclarationNode } from '../../1-parse/syntax-nodes.ts';
import type { Rule } from '../check-context.ts';
import { eachDuplicate } from '../duplicates.ts';

const WORDS: Readonly<Record<DeclarationNode['kind'], string>> = {
  class: 'class',
  enum: 'enum',
  alias: 'type',
  function: 'function',
  workflow: 'function',
  template_string: 'template_string',
  client: 'client',
  retry_policy: 'retry policy',
  generator: 'generator',
  test: 'test',
};

/**
 * Whatever can be named in a type, a prompt or a request has a name of its own; retry policies and generators have
 * theirs among themselves. With two of one name it would be chance which one counts.
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
        const related = [{ span: first.name.span, message: `first declared here, as a ${WORDS[first.kind]}` }];
        report('check/duplicate-name', node.name.span, { name: node.name.text, what: WORDS[node.kind] }, related);
      },
    );
  }
};
