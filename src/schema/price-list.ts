import { matchesWildcard } from '../base/wildcard.ts';
import type { TokenPrices } from './providers/common-options.ts';
import type { Provider } from './providers/providers.ts';

/** The prices of the models whose names match a pattern. */
export interface ModelPrices extends TokenPrices {
  /** Absent: of every provider. */
  readonly provider?: Provider;
  /** A model name; `*` matches any text. */
  readonly pattern: string;
}

export type PriceList = readonly ModelPrices[];

/** No provider has a model with a longer name. */
export const LONGEST_PATTERN = 256;

/**
 * Returns the prices of a model by the most specific entry that matches: one that contains no `*`, or else the one with the
 * longest pattern, and of two equal patterns the one with a provider. Undefined if no entry matches, or the model is unknown.
 */
export function pricesOf(
  list: PriceList | undefined,
  provider: Provider,
  model: string | undefined,
): TokenPrices | undefined {
  if (list === undefined || model === undefined) return undefined;
  let best: ModelPrices | undefined;
  for (const entry of list) {
    if (entry.provider !== undefined && entry.provider !== provider) continue;
    if (best !== undefined && specificity(entry) <= specificity(best)) continue;
    if (matchesWildcard(entry.pattern, model)) best = entry;
  }
  return best;
}

/** Returns US dollars as a decimal number without an exponent: `0.00021`, `12`. */
export function decimal(cost: number): string {
  return cost.toFixed(8).replace(/\.?0+$/u, '');
}

/** A name without `*` counts more than any pattern, and a provider half a character. */
function specificity({ pattern, provider }: ModelPrices): number {
  const characters = pattern.includes('*') ? pattern.replaceAll('*', '').length : 2 * LONGEST_PATTERN;
  return characters + (provider === undefined ? 0 : 0.5);
}
