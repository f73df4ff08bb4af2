import { didYouMean } from '../../../base/suggestion.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { ClientType, RetryPolicyType } from '../../../schema/client.ts';
import { clientNames, type Program } from '../../../schema/program.ts';
import type { OptionValues } from '../../../schema/providers/option-shapes.ts';
import { readOptions } from '../../../schema/providers/provider-description.ts';
import { isStrategy, PROVIDER_DESCRIPTIONS, providerNamed } from '../../../schema/providers/providers.ts';
import type { ROUND_ROBIN } from '../../../schema/providers/strategies.ts';
import type { Violation } from '../../../schema/violation.ts';
import { optionViolation, type ClientSource, resolveOptions, type CallEnvironment } from '../client-options.ts';

/** The clients of a call, in their order, with their retries. */
export type ClientPlan = (SinglePlan | FallbackPlan | RoundRobinPlan) &
  TimedPlan & {
    readonly name: string;
    readonly retry?: RetryPolicyType;
  };

interface TimedPlan {
  /** Milliseconds for all attempts of this part of the plan. */
  readonly totalTimeoutMs?: number;
}

export interface SinglePlan {
  readonly kind: 'single';
  readonly source: ClientSource;
}

export interface FallbackPlan {
  readonly kind: 'fallback';
  readonly members: readonly ClientPlan[];
  /** The request brought the list. */
  readonly ofRequest: boolean;
}

export interface RoundRobinPlan {
  readonly kind: 'round-robin';
  readonly members: readonly ClientPlan[];
  readonly start: number;
  /** Absent: all members have the same. */
  readonly weights?: Weights;
  /** The request brought the client, so its turns are counted within the request only. */
  readonly ofRequest: boolean;
}

/** The parts of a plan that call a model. */
export function singlePlans(plan: ClientPlan): readonly SinglePlan[] {
  return plan.kind === 'single' ? [plan] : plan.members.flatMap((member) => singlePlans(member));
}

/** Finds clients by name: those of one request first, then those of the files. */
export interface ClientCatalogue {
  find(name: string): ClientSource | undefined;
  names(): Iterable<string>;
  /** The shorthands (`provider/model`) that the files name; every other one is a client of the request. */
  readonly shorthands: ReadonlySet<string>;
  policy(name: string): RetryPolicyType | undefined;
  readonly environment: CallEnvironment;
}

/** Deeper nesting of strategies is a loop or a mistake. */
const MAX_DEPTH = 16;

/** Members of all strategies together: a member can be in many lists, so a limit of the depth is not enough. */
const MAX_CLIENTS = 1000;

/**
 * Requests to models that one call can make if its request brings clients: each costs the operator money or capacity at a
 * provider. Clients of the definition files are asked as often as the files define it.
 */
export const MAX_REQUESTS = 100;

/** Completes a sentence or a message. */
export const MAX_REQUESTS_RULE = `a call with its own clients makes at most ${MAX_REQUESTS} requests to models`;

/** Returns the most clients that a plan asks one after the other, without retries. */
export function clientsAsked(plan: ClientPlan): number {
  if (plan.kind === 'single') return 1;
  const counts = plan.members.map(clientsAsked);
  return plan.kind === 'fallback' ? sum(counts) : Math.max(...counts);
}

/** True if the request brought a client or a list of the plan. */
export function isOfRequest(plan: ClientPlan): boolean {
  if (plan.kind === 'single') return plan.source.from === 'request';
  return plan.ofRequest || plan.members.some(isOfRequest);
}

/** A plan and its size. */
interface Planned<Plan = ClientPlan> {
  readonly plan: Plan;
  /** Strategies on the longest way down. */
  readonly height: number;
  /** The client and all below it; one that is in several lists counts for each. */
  readonly clients: number;
}

/** Plans the clients of one request. A plan is made once for each name, and shared by all lists that contain the name. */
export class Planner {
  readonly #catalogue: ClientCatalogue;
  readonly #planned = new Map<string, Planned>();

  constructor(catalogue: ClientCatalogue) {
    this.#catalogue = catalogue;
  }

  /**
   * The plan for a client's name or a `provider/model` shorthand. A violation names the client that has it in its message;
   * its path is that of the option within the client.
   */
  plan(name: string): Result<ClientPlan, Violation> {
    const planned = this.#plan(name, []);
    return planned.ok ? ok(planned.value.plan) : planned;
  }

  #plan(name: string, above: readonly string[]): Result<Planned, Violation> {
    if (above.includes(name)) return violation(name, `lists itself: ${[...above, name].join(' -> ')}`);
    const known = this.#planned.get(name);
    const planned = known === undefined ? this.#create(name, above) : ok(known);
    if (!planned.ok) return planned;
    const { height, clients } = planned.value;
    if (above.length + height > MAX_DEPTH || clients > MAX_CLIENTS) {
      return violation(name, 'has too many clients below it');
    }
    this.#planned.set(name, planned.value);
    return planned;
  }

  #create(name: string, above: readonly string[]): Result<Planned, Violation> {
    if (above.length > MAX_DEPTH) return violation(name, 'has too many clients below it');
    const source = this.#catalogue.find(name) ?? this.#shorthand(name);
    if (source === undefined) return this.#unknown(name);
    const retry = this.#retry(source.definition);
    if (!retry.ok) return retry;
    const policy = retry.value === undefined ? {} : { retry: retry.value };
    const { provider } = source.definition;
    if (!isStrategy(provider)) {
      return ok({ plan: { kind: 'single', name, source, ...policy }, height: 0, clients: 1 });
    }
    const strategy = this.#strategy(source, [...above, name]);
    if (!strategy.ok) return strategy;
    const plan = { ...strategy.value.plan, name, ...policy };
    const asked = plan.ofRequest ? clientsAsked(plan) : 0;
    if (asked > MAX_REQUESTS) return violation(name, `can ask ${asked} clients: ${MAX_REQUESTS_RULE}`);
    return ok({ ...strategy.value, plan });
  }

  #shorthand(name: string): ClientSource | undefined {
    const definition = shorthandClient(name);
    if (definition === undefined) return undefined;
    return { definition, from: this.#catalogue.shorthands.has(name) ? 'files' : 'request' };
  }

  #strategy(
    source: ClientSource,
    above: readonly string[],
  ): Result<Planned<(FallbackPlan | RoundRobinPlan) & TimedPlan>, Violation> {
    const { definition, from } = source;
    const options = readStrategy(source, this.#catalogue.environment);
    if (!options.ok) return options;
    const { names, start, weights, totalTimeoutMs } = options.value;
    const below = this.#members(names, above);
    if (!below.ok) return below;
    const members = below.value.map(({ plan }) => plan);
    const size = {
      height: 1 + Math.max(...below.value.map(({ height }) => height)),
      clients: 1 + sum(below.value.map(({ clients }) => clients)),
    };
    const ofRequest = from === 'request';
    const common = { members, ofRequest, ...(totalTimeoutMs === undefined ? {} : { totalTimeoutMs }) };
    if (definition.provider === 'fallback') return ok({ ...size, plan: { kind: 'fallback', ...common } });
    if (weights === undefined) return ok({ ...size, plan: { kind: 'round-robin', ...common, start } });
    const values = names.map((name) => weights.get(name) ?? 1);
    const plan = { kind: 'round-robin', ...common, start, weights: weightsOf(definition, values) } as const;
    return ok({ ...size, plan });
  }

  #members(names: readonly string[], above: readonly string[]): Result<readonly Planned[], Violation> {
    const members: Planned[] = [];
    for (const [index, name] of names.entries()) {
      const member = this.#plan(name, above);
      if (!member.ok) return inList(member.failure, index);
      members.push(member.value);
    }
    return ok(members);
  }

  #retry(definition: ClientType): Result<RetryPolicyType | undefined, Violation> {
    if (definition.retryPolicy === undefined) return ok(undefined);
    const policy = this.#catalogue.policy(definition.retryPolicy);
    if (policy !== undefined) return ok(policy);
    return violation(
      definition.name,
      `names the retry policy "${definition.retryPolicy}", which is not defined`,
      'retry_policy',
    );
  }

  #unknown(name: string): Result<never, Violation> {
    const near = didYouMean(name, this.#catalogue.names());
    return err({ path: '', message: `There is no client "${name}"${near === '' ? '' : `. ${near}`}` });
  }
}

/** The client of a shorthand such as `openai/gpt-4o`; undefined if the text is not a shorthand. */
function shorthandClient(text: string): ClientType | undefined {
  const slash = text.indexOf('/');
  const provider = providerNamed(text.slice(0, slash));
  if (slash === text.length - 1 || provider === undefined || isStrategy(provider)) return undefined;
  const model = { key: 'model', value: { kind: 'scalar', value: text.slice(slash + 1) } } as const;
  return { name: text, provider, options: [model] };
}

/** The clients of the definition files: those that they declare, and those that they name by a shorthand. */
export function clientsOfFiles(program: Pick<Program, 'clients' | 'functions'>): {
  readonly clients: readonly ClientType[];
  readonly shorthands: ReadonlySet<string>;
} {
  const declared = new Set(program.clients.map(({ name }) => name));
  const named = [...clientNames(program)].filter((name) => !declared.has(name));
  const clients = named.flatMap((name) => shorthandClient(name) ?? []);
  return { clients: [...program.clients, ...clients], shorthands: new Set(clients.map(({ name }) => name)) };
}

/** Weights by client: requests with options have plans of their own, which share the order of turns. */
const weightsByClient = new WeakMap<ClientType, Weights>();

function weightsOf(client: ClientType, values: readonly number[]): Weights {
  const known = weightsByClient.get(client);
  // A request can set a variable that a weight reads.
  if (known !== undefined && String(known.values) === String(values)) return known;
  const created = new Weights(values);
  weightsByClient.set(client, created);
  return created;
}

interface StrategyOptions {
  readonly names: readonly string[];
  readonly start: number;
  readonly weights: ReadonlyMap<string, number> | undefined;
  readonly totalTimeoutMs: number | undefined;
}

/** The options of a strategy. For options without effect, the files have a warning; in a request, they are violations. */
function readStrategy(
  { definition, from }: ClientSource,
  environment: CallEnvironment,
): Result<StrategyOptions, Violation> {
  const { values: given } = resolveOptions(definition.options, environment);
  const { values, violations } = readOptions(PROVIDER_DESCRIPTIONS[definition.provider], given);
  const first = violations.find(({ kind }) => from === 'request' || kind !== 'unused');
  if (first !== undefined) {
    const { path, message } = optionViolation(first);
    return err({ path, message: `${message} (of the client "${definition.name}")` });
  }
  // A fallback has no `start` and no `weights`; all else is the same.
  const { strategy = [], http, start = 0, weights } = values as Partial<OptionValues<typeof ROUND_ROBIN.options>>;
  const total = http?.total_timeout_ms;
  return ok({ names: strategy, start, weights, totalTimeoutMs: total === 0 ? undefined : total });
}

/** A client that does not exist has no option of its own: the violation is in the list that names it. */
function inList(failure: Violation, index: number): Result<never, Violation> {
  return err(failure.path === '' ? { ...failure, path: `options.strategy[${index}]` } : failure);
}

function violation(client: string, message: string, path = 'options.strategy'): Result<never, Violation> {
  return err({ path, message: `The client "${client}" ${message}` });
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/**
 * The order of turns by smooth weighted round-robin, as in nginx: in each cycle, every member has as many turns as its
 * weight, spread as evenly as possible.
 */
export class Weights {
  /** One whole number for each member, and at least one above 0. */
  readonly values: readonly number[];
  /** The smallest whole numbers with the same ratios. */
  readonly #ratios: readonly number[];
  /** Turns after which the order repeats itself. */
  readonly #period: number;
  /** The turns that each member is behind its share, times the period. */
  readonly #behind: number[];
  /** The members of the first turns, as far as a call needed them. */
  readonly #order: number[] = [];

  constructor(values: readonly number[]) {
    this.values = values;
    const divisor = values.reduce(greatestCommonDivisor);
    this.#ratios = values.map((weight) => weight / divisor);
    this.#period = this.#ratios.reduce((total, weight) => total + weight, 0);
    this.#behind = values.map(() => 0);
  }

  /** The index of the member that has this turn. */
  memberAt(turn: number): number {
    const place = turn % this.#period;
    while (this.#order.length <= place) this.#order.push(this.#next());
    return this.#order[place] ?? 0;
  }

  #next(): number {
    let next = 0;
    for (const [index, ratio] of this.#ratios.entries()) {
      this.#behind[index] = (this.#behind[index] ?? 0) + ratio;
      if ((this.#behind[index] ?? 0) > (this.#behind[next] ?? 0)) next = index;
    }
    this.#behind[next] = (this.#behind[next] ?? 0) - this.#period;
    return next;
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
