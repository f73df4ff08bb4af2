import { stronglyConnected } from '../../../base/strongly-connected.ts';
import { didYouMean } from '../../../base/suggestion.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import { readOptions } from '../../../schema/providers/provider-description.ts';
import { isStrategy, PROVIDER_DESCRIPTIONS, providerNamed, PROVIDERS } from '../../../schema/providers/providers.ts';
import { type StructuredClient, structuresOf } from '../../../schema/structured-clients.ts';
import type { ClientNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf } from '../build/build-client.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { entryValue, stringOf } from '../node-values.ts';

/** A client names a provider of svc, and if it names a retry policy, that policy is declared. */
export const clientParts: Rule = (context) => {
  for (const node of context.scope.clients.values()) {
    checkProvider(context, node);
    checkRetryPolicy(context, node);
  }
};

function checkProvider({ report, suggest }: CheckContext, node: ClientNode): void {
  const value = entryValue(node.entries, 'provider');
  const name = stringOf(value);
  if (!node.entries.some((entry) => entry.key.text === 'provider')) {
    if (node.broken === true || node.entries.some((entry) => didYouMean(entry.key.text, ['provider']) !== '')) return;
    const owner = `client "${node.name.text}"`;
    report('check/missing-key', node.name.span, { name: 'provider', owner, example: 'provider openai' });
  } else if (value !== undefined && name === undefined && value.kind !== 'broken') {
    report('check/option-value', value.span, { name: 'provider', problem: 'has to be a name' });
  } else if (value !== undefined && name !== undefined && providerNamed(name) === undefined) {
    report('check/unknown-provider', value.span, { name, suggestion: suggest(name, PROVIDERS) });
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

// --- references to clients -------------------------------------------------------------------------------------------

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
  if (value.kind === 'broken') return;
  if (name === undefined) context.report('check/option-value', value.span, NOT_A_NAME);
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
  const model = name.slice(slash + 1);
  const { violations } = readOptions(PROVIDER_DESCRIPTIONS[provider], new Map([['model', model.trim()]]));
  const missing = violations.find((violation) => violation.kind === 'missing');
  if (missing !== undefined) {
    const needs = missing.alternatives.map((options) => options.map((option) => `a ${option}`).join(' and '));
    report('check/shorthand-provider', value.span, { name: provider, needs: needs.join(', or ') });
  } else if (model.trim() === '') report('check/missing-model', value.span, { name });
}

// --- strategies ------------------------------------------------------------------------------------------------------

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
  if (node === undefined || !isStrategy(providerNamed(stringOf(entryValue(node.entries, 'provider')) ?? ''))) return [];
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

// --- environment variables -------------------------------------------------------------------------------------------

/** In quotes, with `$`, or with a fallback, which the language does not have: `env.HOST ?? "localhost"`. */
const QUOTED_VARIABLE = /^(?:\$\{?(?:env\.\w+|[A-Z_]\w*)\}?|(?:process\.)?env\.[A-Z]\w*(?:[ \t]*(?:\?\?|\|\|).*)?)$/;
/** The formats of keys that providers issue. */
const SECRET = /^(?:sk-[\w-]{16,}|AIza[\w-]{30,}|gsk_\w{20,}|xai-\w{20,})$/;

/** Options refer to environment variables without quotes, and contain no secrets: those belong in the environment. */
export const environmentVariables: Rule = (context) => {
  for (const node of context.scope.clients.values()) {
    for (const entry of optionsOf(node)) if (entry.value !== undefined) checkValue(context, entry.value);
  }
};

function checkValue(context: CheckContext, value: ValueNode): void {
  if (value.kind === 'list') for (const item of value.items) checkValue(context, item);
  if (value.kind === 'map') {
    for (const entry of value.entries) if (entry.value !== undefined) checkValue(context, entry.value);
  }
  if (value.kind !== 'string') return;
  if (QUOTED_VARIABLE.test(value.value)) context.report('check/env-in-quotes', value.span, { name: value.value });
  if (SECRET.test(value.value)) context.report('check/key-in-file', value.span, {});
}

// --- structured output -----------------------------------------------------------------------------------------------

/**
 * Warns about a client with `structured_output` that has no form for it, or whose provider does not support the return type of a
 * function. Only the prompt then describes the reply, although the definitions ask for more.
 */
export function checkStructuredOutput(
  context: CheckContext,
  index: DefinitionIndex,
  clientsOf: ReadonlyMap<string, readonly StructuredClient[]>,
): void {
  for (const { name } of index.clients.values()) {
    const structure = structuresOf(name, index).get(name);
    const node = context.scope.clients.get(name);
    if (structure?.kind !== 'unavailable' || node === undefined) continue;
    context.report('check/unstructured-client', node.name.span, { name, reason: structure.reason });
  }
  for (const [name, clients] of clientsOf) checkFunction(context, name, clients);
}

/** Clients with the same limits have the same problem. */
function checkFunction({ scope, report }: CheckContext, name: string, clients: readonly StructuredClient[]): void {
  const node = scope.functions.get(name);
  if (node === undefined) return;
  const firstWith = new Map<string, string>();
  for (const { client, problem } of clients) {
    if (problem !== undefined && !firstWith.has(problem)) firstWith.set(problem, client);
  }
  for (const [reason, client] of firstWith) {
    report('check/unstructured-type', node.returns?.span ?? node.name.span, { name, client, reason });
  }
}
