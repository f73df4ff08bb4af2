import {
  type OptionData,
  type OptionTable,
  type OptionValues,
  type OptionViolation,
  type Shape,
  readValue,
} from './option-shapes.ts';

/** Retry policies do not read the environment, so strings with digits would be a mistake. */
const MILLISECONDS = {
  kind: 'count',
  literal: true,
  expected: 'a whole number of milliseconds, 0 or more',
} as const satisfies Shape;

/** The settings of a `strategy` block, with the waits of a policy that does not give them. */
const RETRY_STRATEGY = {
  type: {
    shape: { kind: 'one-of', words: ['constant_delay', 'exponential_backoff'], literal: true },
    default: 'constant_delay',
  },
  delay_ms: { shape: MILLISECONDS, default: 200 },
  multiplier: { shape: { kind: 'number', expected: 'a number, 0 or more' }, default: 1.5 },
  max_delay_ms: { shape: MILLISECONDS, default: 10_000 },
} as const satisfies OptionTable;

/** Each re-ask costs the whole prompt once more, and a model that fails this often does not succeed later. */
const MAX_REASKS = 5;

/** The keys of a `retry_policy` block. */
export const RETRY_POLICY = {
  max_retries: { shape: { kind: 'count', literal: true, expected: 'a whole number, 0 or more' }, default: 0 },
  strategy: {
    shape: { kind: 'settings', settings: RETRY_STRATEGY, expected: 'a block `{ … }`' },
    default: {},
  },
  statuses: {
    shape: {
      kind: 'list',
      item: { kind: 'count', literal: true, min: 400, max: 599, expected: 'a status from 400 to 599' },
      expected: 'a list of statuses from 400 to 599',
    },
  },
  on_invalid_reply: {
    shape: {
      kind: 'count',
      literal: true,
      max: MAX_REASKS,
      expected: `a whole number from 0 to ${MAX_REASKS}`,
    },
    default: 0,
  },
} as const satisfies OptionTable;

/** Reads the block of a retry policy, except for unknown keys, which are reported as those of all blocks. */
export function readRetryPolicy(data: Readonly<Record<string, OptionData>>): {
  readonly values: OptionValues<typeof RETRY_POLICY>;
  readonly violations: readonly OptionViolation[];
} {
  const violations: OptionViolation[] = [];
  const known = Object.fromEntries(Object.entries(data).filter(([key]) => Object.hasOwn(RETRY_POLICY, key)));
  const shape = { kind: 'settings', settings: RETRY_POLICY, expected: 'a block `{ … }`' } as const;
  const values = readValue(shape, known, [], violations) as OptionValues<typeof RETRY_POLICY>;
  return { values, violations };
}
