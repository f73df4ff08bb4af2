import type { ClientNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf, providerNamed } from '../build/build-client.ts';
import { textOf, valueOf } from '../build/text-of.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { stronglyConnected } from '../strongly-connected.ts';

/** A fallback or round-robin client chooses among others: there has to be one, and none may lead back to itself. */
export const strategies: Rule = (context) => {
  for (const node of context.scope.clients.values()) if (isStrategy(node)) checkStrategy(context, node);
  reportCycles(context);
};

function isStrategy(node: ClientNode): boolean {
  const provider = providerNamed(textOf(valueOf(node.entries, 'provider')) ?? '');
  return provider === 'fallback' || provider === 'round-robin';
}

function checkStrategy({ report }: CheckContext, node: ClientNode): void {
  const options = optionsOf(node);
  const strategy = valueOf(options, 'strategy');
  if (!options.some((entry) => entry.key.text === 'strategy')) {
    const why = 'so it has no clients to choose among';
    report('check/missing-option', node.name.span, { name: '"strategy"', owner: `client "${node.name.text}"`, why });
  }
  if (strategy?.kind !== 'list') return;
  if (strategy.items.length === 0) report('check/empty-strategy', strategy.span, { name: node.name.text });
  const seen = new Set<string>();
  for (const item of strategy.items) {
    const name = textOf(item);
    if (name === undefined) continue;
    if (seen.has(name)) report('check/repeated-member', item.span, { name });
    seen.add(name);
  }
}

function membersOf(node: ClientNode | undefined): readonly string[] {
  const strategy = node !== undefined && isStrategy(node) ? valueOf(optionsOf(node), 'strategy') : undefined;
  return strategy?.kind === 'list' ? strategy.items.flatMap((item) => textOf(item) ?? []) : [];
}

function reportCycles({ scope, report }: CheckContext): void {
  const edges = (name: string): readonly string[] =>
    membersOf(scope.clients.get(name)).filter((member) => scope.clients.has(member));
  for (const group of stronglyConnected([...scope.clients.keys()], edges)) {
    const nodes = group.flatMap((name) => scope.clients.get(name) ?? []);
    const [first, ...others] = nodes;
    if (first === undefined) continue;
    const path = [...group, first.name.text].join(' -> ');
    const related = others.map((node) => ({ span: node.name.span, message: 'part of the cycle' }));
    report('check/client-cycle', first.name.span, { path }, related);
  }
}
