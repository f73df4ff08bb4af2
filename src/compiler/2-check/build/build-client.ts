import type { ClientType, OptionEntry, OptionValue, RetryPolicyType } from '../../../schema/client.ts';
import { providerNamed } from '../../../schema/providers/providers.ts';
import { readRetryPolicy } from '../../../schema/providers/retry-policy.ts';
import type { ClientNode, EntryNode, RetryPolicyNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import { entryData } from '../option-data.ts';
import { entryValue, lastEntries, stringOf } from '../node-values.ts';

/** Returns undefined if the provider is unknown. */
export function buildClient(node: ClientNode): ClientType | undefined {
  const provider = providerNamed(stringOf(entryValue(node.entries, 'provider')) ?? '');
  if (provider === undefined) return undefined;
  const retryPolicy = stringOf(entryValue(node.entries, 'retry_policy'));
  return {
    name: node.name.text,
    provider,
    options: optionsOf(node).map(buildEntry),
    ...(retryPolicy !== undefined && { retryPolicy }),
  };
}

/** Returns the entries in the `options` of a client, the last one of each key. */
export function optionsOf(node: { readonly entries: readonly EntryNode[] }): readonly EntryNode[] {
  const options = entryValue(node.entries, 'options');
  return options?.kind === 'map' ? lastEntries(options.entries) : [];
}

/** Builds `key value`. An unreadable value becomes null. */
export function buildEntry(entry: EntryNode): OptionEntry {
  return { key: entry.key.text, value: buildValue(entry.value) };
}

function buildValue(node: ValueNode | undefined): OptionValue {
  switch (node?.kind) {
    case 'number':
    case 'boolean':
      return { kind: 'scalar', value: node.value };
    case 'env':
      return { kind: 'env', variable: node.variable };
    case 'list':
      return { kind: 'list', items: node.items.map(buildValue) };
    case 'map':
      return { kind: 'map', entries: lastEntries(node.entries).map(buildEntry) };
    case 'expression':
      return { kind: 'scalar', value: `{{${node.source}}}` };
    case 'string':
    case 'raw-string':
      return { kind: 'scalar', value: stringOf(node) ?? '' };
    case 'null':
    case 'broken':
    case undefined:
      return { kind: 'scalar', value: null };
  }
}

export function buildRetryPolicy(node: RetryPolicyNode): RetryPolicyType {
  const { values } = readRetryPolicy(entryData(node.entries));
  const { max_retries: maxRetries, on_invalid_reply: onInvalidReply, strategy, statuses } = values;
  const { type, delay_ms: delayMs, multiplier, max_delay_ms: maxDelayMs } = strategy;
  return {
    name: node.name.text,
    maxRetries,
    strategy:
      type === 'exponential_backoff'
        ? { kind: 'exponential', delayMs, multiplier, maxDelayMs }
        : { kind: 'constant', delayMs },
    ...(statuses !== undefined && { statuses }),
    ...(onInvalidReply > 0 && { onInvalidReply }),
  };
}
