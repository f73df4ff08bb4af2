import type { JsonValue } from '../../../base/json.ts';
import { didYouMean } from '../../../base/suggestion.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { isProvider } from '../../../schema/client.ts';
import type { ClientType, RetryPolicyType } from '../../../schema/client.ts';
import type { FaultAt } from '../../function/failure.ts';
import type { ClientSource } from '../create-model-client.ts';
import { OptionReader } from '../options/option-reader.ts';
import { resolveOptions } from '../options/resolve-options.ts';
import type { Environment } from '../options/resolve-options.ts';

/** Whom to ask, in which order, how often. */
export type ClientPlan = (SinglePlan | FallbackPlan | RoundRobinPlan) & {
  readonly name: string;
  readonly retry?: RetryPolicyType;
  /** Milliseconds for all attempts below this point. */
  readonly totalTimeoutMs?: number;
};

export interface SinglePlan {
  readonly kind: 'single';
  readonly source: ClientSource;
}

export interface FallbackPlan {
  readonly kind: 'fallback';
  readonly members: readonly ClientPlan[];
}

export interface RoundRobinPlan {
  readonly kind: 'round-robin';
  readonly members: readonly ClientPlan[];
  readonly start: number;
  /** Of a client that only this request knows: its turns are not counted beyond it. */
  readonly ofRequest: boolean;
}

/** Finds clients by name: those of the files, and above them those of one request. */
export interface ClientCatalogue {
  find(name: string): ClientSource | undefined;
  names(): Iterable<string>;
  policy(name: string): RetryPolicyType | undefined;
  readonly environment: Environment;
}

/** Strategies inside strategies: deeper than this is a loop or a mistake. */
const MAX_DEPTH = 16;

/** Members of all strategies together; each may stand in many lists, so depth alone bounds nothing. */
const MAX_CLIENTS = 1000;

/**
 * The plan for a client's name or a `provider/model` shorthand. Faults speak of the client at fault and have the
 * path of the option within it.
 */
export function planClient(name: string, catalogue: ClientCatalogue): Result<ClientPlan, FaultAt> {
  return new Planner(catalogue).plan(name, []);
}

/** The client that a shorthand such as `openai/gpt-4o` stands for; undefined when the text is none. */
function shorthandClient(text: string): ClientType | undefined {
  const slash = text.indexOf('/');
  const provider = text.slice(0, slash);
  if (slash <= 0 || slash === text.length - 1 || !isProvider(provider)) return undefined;
  if (provider === 'fallback' || provider === 'round-robin') return undefined;
  const model = { key: 'model', value: { kind: 'scalar', value: text.slice(slash + 1) } } as const;
  return { name: text, provider, options: [model] };
}

class Planner {
  readonly #catalogue: ClientCatalogue;
  #clients = 0;

  constructor(catalogue: ClientCatalogue) {
    this.#catalogue = catalogue;
  }

  plan(name: string, above: readonly string[]): Result<ClientPlan, FaultAt> {
    this.#clients += 1;
    if (above.includes(name)) return fault(name, `lists itself: ${[...above, name].join(' -> ')}`);
    if (above.length > MAX_DEPTH || this.#clients > MAX_CLIENTS) return fault(name, 'has too many clients below it');
    const source = this.#catalogue.find(name) ?? shorthandSource(name);
    if (source === undefined) return this.#unknown(name);
    const retry = this.#retry(source.definition);
    if (!retry.ok) return retry;
    const policy = retry.value === undefined ? {} : { retry: retry.value };
    const { provider } = source.definition;
    if (provider !== 'fallback' && provider !== 'round-robin') return ok({ kind: 'single', name, source, ...policy });
    const strategy = this.#strategy(source, [...above, name]);
    return strategy.ok ? ok({ ...strategy.value, name, ...policy }) : strategy;
  }

  #strategy(
    source: ClientSource,
    above: readonly string[],
  ): Result<(FallbackPlan | RoundRobinPlan) & { readonly totalTimeoutMs?: number }, FaultAt> {
    const { definition } = source;
    const reader = new OptionReader(resolveOptions(definition.options, this.#catalogue.environment).values);
    const names = memberNames(reader.take('strategy'));
    const total = reader.counts('http', ['total_timeout_ms']).get('total_timeout_ms');
    const start = reader.take('start');
    const [first] = reader.faults;
    if (first !== undefined) return fault(definition.name, first.message, first.path);
    if (names === undefined) return fault(definition.name, 'has to be a list of client names', 'options.strategy');
    const members: ClientPlan[] = [];
    for (const name of names) {
      const member = this.plan(name, above);
      if (!member.ok) return member;
      members.push(member.value);
    }
    const timeout = total === undefined || total === 0 ? {} : { totalTimeoutMs: total };
    if (definition.provider === 'fallback') return ok({ kind: 'fallback', members, ...timeout });
    const turn = { start: startOf(start), ofRequest: source.from === 'request' };
    return ok({ kind: 'round-robin', members, ...turn, ...timeout });
  }

  #retry(definition: ClientType): Result<RetryPolicyType | undefined, FaultAt> {
    if (definition.retryPolicy === undefined) return ok(undefined);
    const policy = this.#catalogue.policy(definition.retryPolicy);
    if (policy !== undefined) return ok(policy);
    return fault(
      definition.name,
      `names the retry policy "${definition.retryPolicy}", which is not defined`,
      'retry_policy',
    );
  }

  #unknown(name: string): Result<never, FaultAt> {
    const near = didYouMean(name, this.#catalogue.names());
    return err({ path: '', message: `There is no client "${name}"${near === '' ? '' : `. ${near}`}` });
  }
}

function shorthandSource(name: string): ClientSource | undefined {
  const definition = shorthandClient(name);
  return definition === undefined ? undefined : { definition, from: 'files' };
}

function memberNames(value: JsonValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.every((item) => typeof item === 'string') ? value : undefined;
}

function startOf(value: JsonValue | undefined): number {
  const start = Number(value ?? 0);
  return Number.isSafeInteger(start) && start >= 0 ? start : 0;
}

function fault(client: string, message: string, path = 'options.strategy'): Result<never, FaultAt> {
  return err({ path, message: `The client "${client}" ${message}` });
}
