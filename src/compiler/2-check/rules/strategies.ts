import { isStrategy } from '../../../schema/providers/providers.ts';
import type { ClientNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf } from '../build-definitions.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { entryValue, providerOf, stringOf } from '../node-values.ts';
import { stronglyConnected } from '../../../base/strongly-connected.ts';

/** No fallback or round-robin client leads back to itself, and a member that it lists twice is worth a warning. */
export const strategies: Rule = (context) => {
  for (const node of context.scope.clients.values()) reportRepeated(context, node);
  reportCycles(context);
};

function reportRepeated({ report }: CheckContext, node: ClientNode): void {
  const seen = new Set<string>();
  for (const item of membersOf(node)) {
    const name = stringOf(item);
    if (name === undefined) continue;
    if (seen.has(name)) report('check/repeated-member', item.span, { name });
    seen.add(name);
  }
}

function membersOf(node: ClientNode | undefined): readonly ValueNode[] {
  if (node === undefined || !isStrategy(providerOf(node))) return [];
  const strategy = entryValue(optionsOf(node), 'strategy');
  return strategy?.kind === 'list' ? strategy.items : [];
}

function reportCycles({ scope, reportCycle }: CheckContext): void {
  const edges = (name: string): readonly string[] =>
    membersOf(scope.clients.get(name))
      .flatMap((item) => stringOf(item) ?? [])
      .filter((member) => scope.clients.has(member));
  for (const group of stronglyConnected([...scope.clients.keys()], edges)) {
    const nodes = group.flatMap((name) => scope.clients.get(name) ?? []);
    reportCycle('check/client-cycle', nodes);
  }
}
