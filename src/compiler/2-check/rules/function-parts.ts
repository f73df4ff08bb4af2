import type { FunctionNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';

/** A function has a client and a prompt. The prompt is a raw string, because it is a template. */
export const functionParts: Rule = (context) => {
  for (const node of context.scope.functions.values()) checkFunction(context, node);
};

function checkFunction({ report }: CheckContext, node: FunctionNode): void {
  const owner = `function "${node.name.text}"`;
  // An unknown key has its own diagnostic, and is probably the missing one.
  const misspelt =
    node.broken === true || node.entries.some(({ key }) => key.text !== 'client' && key.text !== 'prompt');
  const missing = (key: string): boolean => !misspelt && !node.entries.some((entry) => entry.key.text === key);
  if (missing('client')) {
    report('check/missing-key', node.name.span, { name: 'client', owner, example: 'client "openai/gpt-4o-mini"' });
  }
  if (missing('prompt')) {
    report('check/missing-key', node.name.span, { name: 'prompt', owner, example: 'prompt #"…"#' });
  }
  for (const { key, value } of node.entries) {
    if (key.text !== 'prompt' || value === undefined || value.kind === 'raw-string' || value.kind === 'broken')
      continue;
    report('check/prompt-not-raw', value.span, {});
  }
}
