import type { NameNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';

const ARTICLES = new Map([
  ['class', 'a class'],
  ['enum', 'an enum'],
  ['alias', 'a type'],
  ['function', 'a function'],
  ['client', 'a client'],
  ['template_string', 'a template_string'],
]);

/** Types, functions, clients, template strings and enum values begin with a capital letter, which tells them from fields. */
export const capitalizedNames: Rule = (context) => {
  for (const node of context.scope.declarations) {
    const what = ARTICLES.get(node.kind);
    if (what !== undefined) checkName(context, node.name, what);
    if (node.kind === 'enum') for (const value of node.values) checkName(context, value.name, 'an enum value');
  }
};

function checkName({ report }: CheckContext, { text, span }: NameNode, what: string): void {
  if (!/^[a-z]/.test(text)) return;
  const better = text.charAt(0).toUpperCase() + text.slice(1);
  report('check/lowercase-name', span, { name: text, what, better });
}
