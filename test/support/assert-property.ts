import fc from 'fast-check';

const seed = integerFrom('FC_SEED');
const factor = integerFrom('FC_RUNS') ?? 1;

/**
 * Asserts that a property holds for `numRuns` random inputs, all of which follow from one seed. The seed is the same in every
 * run of the tests, unless `FC_SEED=…` sets another one; `FC_RUNS=60` tries 60 times as many inputs.
 */
export function assertProperty<T>(property: fc.IProperty<T>, { numRuns = 100 }: Runs = {}): void {
  fc.assert(property, { numRuns: numRuns * factor, ...(seed === undefined ? {} : { seed }) });
}

/** The same for an asynchronous property. */
export async function assertAsyncProperty<T>(
  property: fc.IAsyncProperty<T>,
  { numRuns = 100 }: Runs = {},
): Promise<void> {
  await fc.assert(property, { numRuns: numRuns * factor, ...(seed === undefined ? {} : { seed }) });
}

/**
 * Returns every other row, from the one with the number `first` (0 or 1) on; all rows in a search (`FC_RUNS` above 1). For a table whose
 * rows and columns are tested in pairs: with the number of the column as `first`, every row still has half of the columns.
 */
export function everyOther<T>(rows: readonly T[], first: number): readonly T[] {
  return factor > 1 ? rows : rows.filter((_, index) => index % 2 === first % 2);
}

interface Runs {
  readonly numRuns?: number;
}

function integerFrom(variable: string): number | undefined {
  const text = process.env[variable];
  if (text === undefined) return undefined;
  if (!/^-?\d+$/u.test(text)) throw new Error(`${variable} is "${text}": set it to a whole number.`);
  return Number(text);
}
