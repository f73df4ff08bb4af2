/** The quantile of the normal distribution for an interval of 95 %. */
const Z = 1.959963984540054;

/** Two shares, from 0 to 1. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * Wilson's score interval of 95 % for a share (E. B. Wilson, JASA 22, 1927). Unlike the share plus or minus two standard errors, it
 * stays between 0 and 1 and has a width for 0 of 10 and for 10 of 10. Without any row, it is 0 to 1.
 */
export function wilsonInterval(passed: number, all: number): Interval {
  if (all === 0) return { low: 0, high: 1 };
  const share = passed / all;
  const spread = Z ** 2 / all;
  const centre = (share + spread / 2) / (1 + spread);
  const margin = (Z / (1 + spread)) * Math.sqrt((share * (1 - share)) / all + spread / (4 * all));
  return { low: Math.max(0, centre - margin), high: Math.min(1, centre + margin) };
}

/**
 * The two-sided p-value of the exact sign test, which is McNemar's exact test: the probability that chance alone distributes the rows
 * that changed at least as unevenly over better and worse. Rows that did not change do not matter. 1 if none changed.
 */
export function signTest(better: number, worse: number): number {
  const changed = better + worse;
  // The logarithm of the probability of `rows` successes: the probability itself is 0 in floating point for 1100 rows.
  let logarithm = -changed * Math.LN2;
  let tail = 0;
  for (let rows = 0; rows <= Math.min(better, worse); rows += 1) {
    tail += Math.exp(logarithm);
    logarithm += Math.log((changed - rows) / (rows + 1));
  }
  return Math.min(1, 2 * tail);
}

/** The mean; undefined without numbers. */
export function mean(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}

/** The smallest number that at least this share of the numbers does not exceed; undefined without numbers. */
export function quantile(numbers: readonly number[], share: number): number | undefined {
  return numbers.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * numbers.length) - 1)];
}
