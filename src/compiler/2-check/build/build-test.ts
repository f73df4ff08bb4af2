import type { TestType } from '../../../schema/program.ts';
import type { AttributeNode, EntryNode, TestNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext } from '../check-context.ts';
import { entryValue, isConstraint, isReadable, lastEntries } from '../node-values.ts';
import { testedFunctions } from '../scope.ts';
import { buildEntry } from './build-client.ts';

/** Builds a test. Its mistakes are only warnings, so it can be incomplete. */
export function buildTest(node: TestNode, { templates }: CheckContext): TestType {
  const args = entryValue(node.entries, 'args');
  const entries = args?.kind === 'map' ? lastEntries(args.entries) : [];
  const conditions = node.attributes.filter(isConstraint);
  const constraints = templates.constraints(conditions);
  const unreadable = unreadablePart(node, args, entries) ?? unreadableCondition(conditions, constraints.length);
  return {
    name: node.name.text,
    span: node.name.span,
    functions: [...new Set(testedFunctions(node))],
    args: entries.map(buildEntry),
    constraints,
    buildsTypes: node.types.length > 0,
    ...(unreadable !== undefined && { unreadable }),
  };
}

function unreadablePart(
  node: TestNode,
  args: ValueNode | undefined,
  entries: readonly EntryNode[],
): string | undefined {
  if (args !== undefined && (args.kind !== 'map' || args.broken === true)) return '"args"';
  const entry = entries.find(({ value }) => !isReadable(value));
  if (entry !== undefined) return `the argument "${entry.key.text}"`;
  return node.broken === true ? 'a part of the block' : undefined;
}

/** A test without one of its conditions could pass by mistake. */
function unreadableCondition(conditions: readonly AttributeNode[], readable: number): string | undefined {
  return conditions.length === readable ? undefined : 'a condition';
}
