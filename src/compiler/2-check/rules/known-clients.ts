import { readOptions } from '../../../schema/providers/provider-description.ts';
import { PROVIDER_DESCRIPTIONS, providerNamed, PROVIDERS } from '../../../schema/providers/providers.ts';
import type { ValueNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf } from '../build-definitions.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { entryValue, stringOf } from '../node-values.ts';

/** Functions and strategies name a declared client or `provider/model`. */
export const knownClients: Rule = (context) => {
  for (const node of context.scope.functions.values()) {
    const client = entryValue(node.entries, 'client');
    if (client?.kind === 'env') context.report('check/client-from-env', client.span, {});
    else if (client !== undefined) checkReference(context, client);
  }
  for (const node of context.scope.clients.values()) {
    const strategy = entryValue(optionsOf(node), 'strategy');
    if (strategy?.kind !== 'list') continue;
    for (const item of strategy.items) {
      if (item.kind === 'env') context.report('check/option-value', item.span, NOT_A_NAME);
      else if (stringOf(item)) checkReference(context, item);
    }
  }
};

/** The problem of a client that is not a name. In strategies, `optionValues` reports it for all other values. */
const NOT_A_NAME = { name: 'client', problem: 'has to be a name' };

function checkReference(context: CheckContext, value: ValueNode): void {
  const name = stringOf(value);
  if (value.kind === 'broken' || reportGluedComment(context, value)) return;
  if (name === undefined) context.report('check/option-value', value.span, NOT_A_NAME);
  else if (name.includes('/')) checkShorthand(context, value, name);
  else if (!context.scope.clients.has(name)) {
    const suggestion = context.suggest(name, context.scope.clients.keys());
    context.report('check/unknown-client', value.span, { name, suggestion });
  }
}

/** Reports a name without quotes that includes a comment because no space precedes `//`. Returns true if it reports one. */
export function reportGluedComment({ report }: CheckContext, value: ValueNode): boolean {
  if (value.kind !== 'string' || value.quoted) return false;
  const [name = '', comment] = value.value.split(/(?<!:)(?=\/\/)/u);
  if (comment === undefined) return false;
  report('check/glued-comment', value.span, { name: value.value, better: `${name} ${comment}` });
  return true;
}

function checkShorthand({ report, suggest }: CheckContext, value: ValueNode, name: string): void {
  const slash = name.indexOf('/');
  const provider = providerNamed(name.slice(0, slash));
  if (provider === undefined) {
    const unknown = name.slice(0, slash);
    report('check/unknown-provider', value.span, { name: unknown, suggestion: suggest(unknown, PROVIDERS) });
    return;
  }
  const model = name.slice(slash + 1);
  const { violations } = readOptions(PROVIDER_DESCRIPTIONS[provider], new Map([['model', model.trim()]]));
  const missing = violations.find((violation) => violation.kind === 'missing');
  if (missing !== undefined) {
    const needs = missing.alternatives.map((options) => options.map((option) => `a ${option}`).join(' and '));
    report('check/shorthand-provider', value.span, { name: provider, needs: needs.join(', or ') });
  } else if (model.trim() === '') report('check/missing-model', value.span, { name });
}
