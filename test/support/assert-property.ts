import fc from 'fast-check';

const seed = integerFrom('FC_SEED');
const factor = integerFrom('FC_RUNS') ?? 1;

/**
 * Asserts that a property holds for `numRuns` random inputs, all of which follow from one seed. The seed is the same in every
 * run of the tests, unless `FC_SEED=…` sets another one; `FC_RUNS=20` tries 20 times as many inputs.
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

interface Runs {
  readonly numRuns?: number;
}

function integerFrom(variable: string): number | undefined {
  const text = process.env[variable];
  if (text === undefined) return undefined;
  if (!/^-?\d+$/u.test(text)) throw new Error(`${variable} is "${text}": set it to a whole number.`);
  return Number(text);
}
