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
    if (matches(entry.pattern, model)) best = entry;
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

/** Takes each part of the pattern where it first appears: the time is linear, unlike that of a regular expression. */
function matches(pattern: string, name: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return name === head;
  if (!name.startsWith(head) || name.length < head.length + tail.length || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let from = head.length;
  for (const part of parts) {
    const found = name.indexOf(part, from);
    if (found === -1 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
