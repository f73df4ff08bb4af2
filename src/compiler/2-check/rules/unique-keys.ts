import type { EntryNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { eachDuplicate } from '../duplicates.ts';

/** A key stands once in a block and in a map: of two prompts or two values of an option one would be lost without a word. */
export const uniqueKeys: Rule = (context) => {
  for (const node of context.scope.declarations) {
    if ('entries' in node) checkEntries(context, node.entries);
  }
};

function checkEntries(context: CheckContext, entries: readonly EntryNode[]): void {
  eachDuplicate(
    entries,
    (entry) => entry.key,
    ({ key }, first) => {
      context.report('check/duplicate-key', key.span, { name: key.text }, [
        { span: first.key.span, message: 'the first one' },
      ]);
    },
  );
  for (const entry of entries) if (entry.value !== undefined) checkValue(context, entry.value);
}

function checkValue(context: CheckContext, value: ValueNode): void {
  if (value.kind === 'map') checkEntries(context, value.entries);
  if (value.kind === 'list') for (const item of value.items) checkValue(context, item);
}
