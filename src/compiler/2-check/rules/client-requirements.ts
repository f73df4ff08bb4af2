import type { Provider } from '../../../schema/client.ts';
import type { ClientNode, EntryNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf, providerNamed } from '../build/build-client.ts';
import { textOf, valueOf } from '../build/text-of.ts';
import type { CheckContext, Rule } from '../check-context.ts';

/** Providers whose request cannot be made without a model, and the options that name it. */
const MODEL_REQUIRED: Readonly<Partial<Record<Provider, readonly string[]>>> = {
  'google-ai': ['model'],
  'vertex-ai': ['model'],
  'aws-bedrock': ['model', 'model_id'],
};
/** Providers that can be asked without a model, but nearly always refuse. */
const MODEL_EXPECTED: ReadonlySet<Provider> = new Set([
  'openai',
  'openai-generic',
  'openai-responses',
  'ollama',
  'openrouter',
  'anthropic',
]);

/** What a provider cannot do without, and options that contradict each other, would only fail at the first call. */
export const clientRequirements: Rule = (context) => {
  for (const node of context.scope.clients.values()) {
    const provider = providerNamed(textOf(valueOf(node.entries, 'provider')) ?? '');
    const options = valueOf(node.entries, 'options');
    const isReadable = options === undefined || options.kind === 'map';
    if (provider === undefined || node.broken === true || !isReadable) continue;
    checkModel(context, provider, node);
    checkAddress(context, provider, node);
    checkContradictions(context, provider, optionsOf(node));
    checkRoles(context, optionsOf(node));
  }
};

function has(options: readonly EntryNode[], ...keys: readonly string[]): boolean {
  return options.some((entry) => keys.includes(entry.key.text));
}

function checkModel({ report }: CheckContext, provider: Provider, node: ClientNode): void {
  const owner = `client "${node.name.text}"`;
  const options = optionsOf(node);
  const required = MODEL_REQUIRED[provider];
  if (required !== undefined && !has(options, ...required)) {
    const why = `which provider "${provider}" cannot do without`;
    report('check/missing-option', node.name.span, { name: '"model"', owner, why });
  } else if (MODEL_EXPECTED.has(provider) && !has(options, 'model') && !has(node.entries, 'model')) {
    report('check/no-model', node.name.span, { name: 'model', owner });
  }
}

function checkAddress({ report }: CheckContext, provider: Provider, node: ClientNode): void {
  const options = optionsOf(node);
  const missing = (name: string): void => {
    const why = 'so it has no address to send requests to';
    report('check/missing-option', node.name.span, { name, owner: `client "${node.name.text}"`, why });
  };
  if (provider === 'openai-generic' && !has(options, 'base_url')) missing('"base_url"');
  if (provider === 'vertex-ai' && !has(options, 'base_url', 'location')) missing('"location" or "base_url"');
  if (provider !== 'azure-openai' || has(options, 'base_url')) return;
  if (!has(options, 'resource_name')) missing('"base_url", or "resource_name" and "deployment_id"');
  else if (!has(options, 'deployment_id')) missing('"deployment_id"');
}

function checkContradictions({ report }: CheckContext, provider: Provider, options: readonly EntryNode[]): void {
  const pairs: ReadonlyArray<readonly [string, string]> = [['finish_reason_allow_list', 'finish_reason_deny_list']];
  const ofVertex: typeof pairs = provider === 'vertex-ai' ? [['location', 'base_url']] : [];
  for (const [first, second] of [...pairs, ...ofVertex]) {
    const [a, b] = [first, second].map((key) => options.find((entry) => entry.key.text === key));
    if (a === undefined || b === undefined) continue;
    report('check/exclusive-options', b.key.span, { first, second }, [{ span: a.key.span, message: `"${first}"` }]);
  }
}

function checkRoles({ report }: CheckContext, options: readonly EntryNode[]): void {
  const allowed = valueOf(options, 'allowed_roles');
  const fallback = valueOf(options, 'default_role');
  if (allowed?.kind !== 'list') return;
  if (allowed.items.length === 0) {
    report('check/option-value', allowed.span, { name: 'allowed_roles', expected: 'a list with at least one role' });
    return;
  }
  const roles = allowed.items.map((item) => textOf(item));
  const name = textOf(fallback);
  // A role from the environment could be any.
  if (fallback === undefined || name === undefined || roles.includes(undefined) || roles.includes(name)) return;
  report('check/default-role', fallback.span, { name, allowed: roles.join(', ') });
}
