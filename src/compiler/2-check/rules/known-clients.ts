import { PROVIDERS, type Provider } from '../../../schema/client.ts';
import type { ValueNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf, providerNamed } from '../build/build-client.ts';
import { textOf, valueOf } from '../build/text-of.ts';
import type { CheckContext, Rule } from '../check-context.ts';

/** Providers that a model's name is not enough for, and what they need. */
const NEEDS: Readonly<Partial<Record<Provider, string>>> = {
  'openai-generic': 'a base_url',
  'azure-openai': 'a base_url, or a resource_name and a deployment_id',
  'vertex-ai': 'a location or a base_url',
  fallback: 'a strategy',
  'round-robin': 'a strategy',
};

/** A function, and a strategy, name a declared client or `provider/model`. */
export const knownClients: Rule = (context) => {
  for (const node of context.scope.functions.values()) {
    const client = valueOf(node.entries, 'client');
    if (client?.kind === 'env') context.report('check/client-from-env', client.span, {});
    else if (client !== undefined) checkReference(context, client);
  }
  for (const node of context.scope.clients.values()) {
    const strategy = valueOf(optionsOf(node), 'strategy');
    if (strategy?.kind === 'list') for (const item of strategy.items) checkReference(context, item);
  }
};

function checkReference(context: CheckContext, value: ValueNode): void {
  const name = textOf(value);
  if (value.kind === 'broken') return;
  if (name === undefined) context.report('check/option-value', value.span, { name: 'client', expected: 'a name' });
  else if (name.includes('/')) checkShorthand(context, value, name);
  else if (!context.scope.clients.has(name)) {
    const suggestion = context.suggest(name, context.scope.clients.keys());
    context.report('check/unknown-client', value.span, { name, suggestion });
  }
}

function checkShorthand({ report, suggest }: CheckContext, value: ValueNode, name: string): void {
  const slash = name.indexOf('/');
  const provider = providerNamed(name.slice(0, slash));
  if (provider === undefined) {
    const unknown = name.slice(0, slash);
    report('check/unknown-provider', value.span, { name: unknown, suggestion: suggest(unknown, PROVIDERS) });
    return;
  }
  const needs = NEEDS[provider];
  if (needs !== undefined) report('check/shorthand-provider', value.span, { name: provider, needs });
  else if (name.slice(slash + 1).trim() === '') report('check/missing-model', value.span, { name });
}
