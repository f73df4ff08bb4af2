import { tenths } from '../base/amounts.ts';
import type { CoolingClient } from '../policy/shared-cool-downs.ts';
import type { Grant } from '../policy/ledger.ts';
import type { NamedLimit } from '../policy/limiter.ts';
import type { StoreHealth } from '../policy/store/store.ts';
import type { Attempt } from '../schema/failure.ts';

/** The state of all processes, as of their last heartbeats. */
export interface ServerState {
  readonly uptimeSeconds: number;
  readonly workers: readonly WorkerReport[];
  /** The last failure of each client since the start or the last reload. */
  readonly failures: readonly LastFailure[];
  readonly cooling: readonly CoolingClient[];
  /** Absent without a store. */
  readonly store?: StoreHealth | undefined;
}

interface WorkerReport {
  readonly number: number;
  readonly pid: number;
  /** A state of the fleet, such as `serving`. */
  readonly state: string;
  readonly uptimeSeconds: number;
  readonly inFlight: number;
  readonly rssBytes: number;
  /** The greatest delay of the event loop of the last 30 to 60 seconds. */
  readonly lagSeconds: number;
}

/** The members of the status beside `authz`, for callers with a key. */
export function statusFields(
  { uptimeSeconds, workers, failures, cooling, store }: ServerState,
  clients: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const now = Date.now();
  const coolingUntil = new Map(cooling.map(({ client, leftMs }) => [client, new Date(now + leftMs).toISOString()]));
  const failed = new Map(failures.map((failure) => [failure.client, failure]));
  return {
    uptime_seconds: tenths(uptimeSeconds),
    workers: workers.map((worker) => ({
      number: worker.number,
      pid: worker.pid,
      state: worker.state,
      uptime_seconds: tenths(worker.uptimeSeconds),
      in_flight: worker.inFlight,
      memory_bytes: worker.rssBytes,
      event_loop_delay_seconds: Math.round(worker.lagSeconds * 1000) / 1000,
    })),
    clients: [...clients].map((name) => {
      return { name, last_failure: failureFields(failed.get(name)), cooling_until: coolingUntil.get(name) ?? null };
    }),
    ...(store !== undefined && { store }),
  };
}

/** What a key used of a limit. `grant`: the state of the limit. Amounts of money are in US dollars. */
export function limitUse(
  { limit, unit, unitsInHeader }: NamedLimit,
  grant: Grant | undefined,
): Readonly<Record<string, number>> {
  const { remaining, resetMs } = grant ?? { remaining: limit.units, resetMs: 0 };
  const amount = (units: number): number => (unit === 'micro-usd' ? Math.round(units / unitsInHeader) / 1e6 : units);
  const used = { limit: amount(limit.units), used: amount(Math.max(0, limit.units - remaining)) };
  return limit.windowMs === undefined ? used : { ...used, resets_in_seconds: Math.ceil(resetMs / 1000) };
}

function failureFields(failure: LastFailure | undefined): object | null {
  if (failure === undefined) return null;
  const { error, upstreamStatus, at } = failure;
  return { error, upstream_status: upstreamStatus, at: new Date(at).toISOString() };
}

/** The last failed attempt at a client. It has no message, because providers quote prompts and keys in their messages. */
export interface LastFailure {
  readonly client: string;
  readonly error: Attempt['outcome'];
  /** The status of the provider's answer. */
  readonly upstreamStatus?: number;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** The outcomes of attempts that are not failures of their client. */
const NOT_OF_CLIENT: ReadonlySet<Attempt['outcome']> = new Set(['ok', 'cancelled', 'prompt_error', 'internal_error']);

/** The last failure of each client, from its attempts or from other processes. */
export class ClientFailures {
  readonly #failures = new Map<string, LastFailure>();

  /** Records only clients of the definitions, because clients of requests can have any name. */
  note({ client, outcome, upstreamStatus }: Attempt): void {
    if (NOT_OF_CLIENT.has(outcome)) return;
    const failure = { client, error: outcome, at: Date.now() };
    this.#failures.set(client, upstreamStatus === undefined ? failure : { ...failure, upstreamStatus });
  }

  add(failures: readonly LastFailure[]): void {
    for (const failure of failures) {
      if (failure.at >= (this.#failures.get(failure.client)?.at ?? 0)) this.#failures.set(failure.client, failure);
    }
  }

  get list(): readonly LastFailure[] {
    return [...this.#failures.values()];
  }

  /** Returns the failures since the last call, and forgets them. */
  take(): readonly LastFailure[] {
    if (this.#failures.size === 0) return [];
    const { list } = this;
    this.#failures.clear();
    return list;
  }
}
