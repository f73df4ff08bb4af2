import {
  isProvider,
  LEGACY_PROVIDERS,
  type ClientType,
  type OptionEntry,
  type OptionValue,
  type Provider,
  type RetryPolicyType,
  type RetryStrategy,
} from '../../../schema/client.ts';
import type { ClientNode, EntryNode, RetryPolicyNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import { textOf, valueOf } from './text-of.ts';

/** What a policy that names no strategy waits, and what a strategy without numbers uses. Milliseconds. */
const DEFAULT_DELAY_MS = 200;
const DEFAULT_MULTIPLIER = 1.5;
const DEFAULT_MAX_DELAY_MS = 10_000;

/** The provider that a text names, an older spelling replaced; undefined when there is none. */
export function providerNamed(name: string): Provider | undefined {
  if (isProvider(name)) return name;
  return Object.hasOwn(LEGACY_PROVIDERS, name) ? LEGACY_PROVIDERS[name] : undefined;
}

/** Undefined when it names no known provider. */
export function buildClient(node: ClientNode): ClientType | undefined {
  const provider = providerNamed(textOf(valueOf(node.entries, 'provider')) ?? '');
  if (provider === undefined) return undefined;
  const retryPolicy = textOf(valueOf(node.entries, 'retry_policy'));
  return {
    name: node.name.text,
    provider,
    options: optionsOf(node).map(buildEntry),
    ...(retryPolicy !== undefined && { retryPolicy }),
  };
}

/** The entries of a client's `options`. */
export function optionsOf(node: { readonly entries: readonly EntryNode[] }): readonly EntryNode[] {
  const options = valueOf(node.entries, 'options');
  return options?.kind === 'map' ? options.entries : [];
}

function buildEntry(entry: EntryNode): OptionEntry {
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
      return { kind: 'map', entries: node.entries.map(buildEntry) };
    case 'expression':
      return { kind: 'scalar', value: `{{${node.source}}}` };
    case 'string':
    case 'raw-string':
      return { kind: 'scalar', value: textOf(node) ?? '' };
    case 'null':
    case 'broken':
    case undefined:
      return { kind: 'scalar', value: null };
  }
}

export function buildRetryPolicy(node: RetryPolicyNode): RetryPolicyType {
  const statuses = valueOf(node.entries, 'statuses');
  return {
    name: node.name.text,
    maxRetries: numberOf(node.entries, 'max_retries', 0),
    strategy: buildStrategy(node.entries),
    ...(statuses?.kind === 'list' && { statuses: statuses.items.flatMap(numbers) }),
  };
}

function numbers(item: ValueNode): readonly number[] {
  return item.kind === 'number' ? [item.value] : [];
}

function buildStrategy(entries: readonly EntryNode[]): RetryStrategy {
  const strategy = valueOf(entries, 'strategy');
  const settings = strategy?.kind === 'map' ? strategy.entries : [];
  const delayMs = numberOf(settings, 'delay_ms', DEFAULT_DELAY_MS);
  if (textOf(valueOf(settings, 'type')) !== 'exponential_backoff') return { kind: 'constant', delayMs };
  return {
    kind: 'exponential',
    delayMs,
    multiplier: numberOf(settings, 'multiplier', DEFAULT_MULTIPLIER),
    maxDelayMs: numberOf(settings, 'max_delay_ms', DEFAULT_MAX_DELAY_MS),
  };
}

function numberOf(entries: readonly EntryNode[], key: string, fallback: number): number {
  const value = valueOf(entries, key);
  return value?.kind === 'number' ? value.value : fallback;
}
