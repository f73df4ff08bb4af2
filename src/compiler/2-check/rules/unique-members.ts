import type { NameNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { eachDuplicate } from '../duplicates.ts';

type Code = 'check/duplicate-field' | 'check/duplicate-value' | 'check/duplicate-parameter';
type Member = { readonly name: NameNode };

/** Fields, enum values and parameters are addressed by name, so a second one of the same name could never be. */
export const uniqueMembers: Rule = (context) => {
  for (const node of context.scope.declarations) {
    const owner = `${node.kind} "${node.name.text}"`;
    if (node.kind === 'class') reportAll(context, 'check/duplicate-field', owner, node.fields);
    if (node.kind === 'enum') reportAll(context, 'check/duplicate-value', owner, node.values);
    if (node.kind === 'function' || node.kind === 'template_string') {
      reportAll(context, 'check/duplicate-parameter', owner, node.parameters);
    }
  }
};

function reportAll({ report }: CheckContext, code: Code, owner: string, members: readonly Member[]): void {
  eachDuplicate(
    members,
    (member) => member.name,
    ({ name }, first) => {
      report(code, name.span, { name: name.text, owner }, [{ span: first.name.span, message: 'the first one' }]);
    },
  );
}
