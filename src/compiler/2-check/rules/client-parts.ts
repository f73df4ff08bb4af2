import { didYouMean } from '../../../base/suggestion.ts';
import { providerNamed, PROVIDERS, type Provider } from '../../../schema/providers/providers.ts';
import type { ClientNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { entryValue, stringOf } from '../node-values.ts';
import { reportGluedComment } from './known-clients.ts';

/** A client names a provider of svc, and if it names a retry policy, that policy is declared. */
export const clientParts: Rule = (context) => {
  for (const node of context.scope.clients.values()) {
    checkProvider(context, node);
    checkRetryPolicy(context, node);
  }
};

/** Providers by the names of their models and services. */
const OTHER_NAMES: ReadonlyMap<string, Provider> = new Map([
  ['claude', 'anthropic'],
  ['gpt', 'openai'],
  ['gemini', 'google-ai'],
  ['google', 'google-ai'],
  ['vertex', 'vertex-ai'],
  ['azure', 'azure-openai'],
  ['bedrock', 'aws-bedrock'],
]);

function checkProvider(context: CheckContext, node: ClientNode): void {
  const { report, suggest } = context;
  const value = entryValue(node.entries, 'provider');
  const name = stringOf(value);
  if (!node.entries.some((entry) => entry.key.text === 'provider')) {
    if (node.broken === true || node.entries.some((entry) => didYouMean(entry.key.text, ['provider']) !== '')) return;
    const owner = `client "${node.name.text}"`;
    report('check/missing-key', node.name.span, { name: 'provider', owner, example: 'provider openai' });
  } else if (value !== undefined && name === undefined && value.kind !== 'broken') {
    report('check/option-value', value.span, { name: 'provider', problem: 'has to be a name' });
  } else if (value !== undefined && name !== undefined && providerNamed(name) === undefined) {
    if (reportGluedComment(context, value)) return;
    const provider = OTHER_NAMES.get(name.toLowerCase());
    const suggestion = provider === undefined ? suggest(name, PROVIDERS) : `Write \`provider ${provider}\`.`;
    report('check/unknown-provider', value.span, { name, suggestion });
  }
}

function checkRetryPolicy({ scope, report, suggest }: CheckContext, node: ClientNode): void {
  const value = entryValue(node.entries, 'retry_policy');
  const name = stringOf(value);
  if (value === undefined || value.kind === 'broken' || value.kind === 'null') return;
  if (name === undefined)
    report('check/option-value', value.span, { name: 'retry_policy', problem: 'has to be a name' });
  else if (!scope.retryPolicies.has(name)) {
    report('check/unknown-retry-policy', value.span, {
      name,
      suggestion: suggest(name, scope.retryPolicies.keys()),
    });
  }
}
