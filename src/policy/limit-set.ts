import type { CallerLimits } from '../config/key-file.ts';
import { DAY_MS, type Limit } from './ledger.ts';

/** The limits of a caller, as in the key file and in answers. */
export type LimitName = 'requests_per_minute' | 'tokens_per_minute' | 'in_flight' | 'cost_per_day';

/** What a limit counts. The draft defines `requests` and `concurrent-requests`. */
export type LimitUnit = 'requests' | 'tokens' | 'concurrent-requests' | 'micro-usd';

export interface NamedLimit {
  readonly name: LimitName;
  readonly limit: Limit;
  readonly unit: LimitUnit;
  /** The part of the header `ratelimit` before the number that remains. */
  readonly headerStart: string;
  /** The number of units that are one in the header. */
  readonly unitsInHeader: number;
}

/** All limits of one caller. */
export interface LimitSet {
  readonly limits: readonly NamedLimit[];
  /** The header that states the limits (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly policy: readonly ['ratelimit-policy', string];
}

/** Ledgers count whole numbers, and a small call costs less than a millionth of a dollar. */
export const UNITS_OF_A_DOLLAR = 1e9;

const MINUTE_MS = 60_000;

/** Headers state costs in millionths of a dollar. */
const COST_UNITS_IN_HEADER = 1_000;

/** Returns undefined if the caller has no limits. `caller` is its unique name, such as `key:team-a`. */
export function limitSetOf(caller: string, given: CallerLimits | undefined): LimitSet | undefined {
  if (given === undefined) return undefined;
  const limits: NamedLimit[] = [];
  const policies: string[] = [];
  const add = (name: LimitName, units: number | undefined, kind: LimitKind): void => {
    if (units === undefined) return;
    const { windowMs, unitsInHeader = 1, unit } = kind;
    const headerStart = `${limits.length === 0 ? '' : ', '}"${name}";r=`;
    limits.push({ name, limit: { id: `${caller} ${name}`, units, windowMs }, unit, headerStart, unitsInHeader });
    const window = windowMs === undefined ? '' : `;w=${windowMs / 1000}`;
    policies.push(`"${name}";q=${Math.floor(units / unitsInHeader)};qu="${unit}"${window}`);
  };
  add('requests_per_minute', given.requestsPerMinute, { windowMs: MINUTE_MS, unit: 'requests' });
  add('tokens_per_minute', given.tokensPerMinute, { windowMs: MINUTE_MS, unit: 'tokens' });
  add('in_flight', given.inFlight, { windowMs: undefined, unit: 'concurrent-requests' });
  const cost =
    given.costPerDay === undefined ? undefined : Math.max(1, Math.round(given.costPerDay * UNITS_OF_A_DOLLAR));
  add('cost_per_day', cost, { windowMs: DAY_MS, unit: 'micro-usd', unitsInHeader: COST_UNITS_IN_HEADER });
  return limits.length === 0 ? undefined : { limits, policy: ['ratelimit-policy', policies.join(', ')] };
}

interface LimitKind {
  readonly windowMs: number | undefined;
  readonly unit: LimitUnit;
  readonly unitsInHeader?: number;
}
