import { CACHE_OPTION, COUNT, MILLISECONDS } from './common-options.ts';
import type { OptionTable, Shape } from './option-shapes.ts';
import type { OptionRule, ProviderDescription } from './provider-description.ts';

const CLIENT_NAME = {
  kind: 'text',
  pattern: /./su,
  expected: 'the name of a client',
} as const satisfies Shape;

const OPTIONS = {
  strategy: {
    shape: { kind: 'list', item: CLIENT_NAME, nonEmpty: true, expected: 'a list of client names' },
    decidesTarget: true,
    text: 'the members: names of clients, or `provider/model`',
  },
  cache: CACHE_OPTION,
  http: {
    shape: {
      kind: 'settings',
      settings: {
        total_timeout_ms: { shape: MILLISECONDS, text: '`fallback` and `round-robin` only: all attempts below it end' },
      },
      expected: 'a map',
    },
    default: {},
    text: '`total_timeout_ms` only',
  },
} as const satisfies OptionTable;

/** Fine enough for a share of a thousandth; svc keeps the order of all turns of a cycle. */
const MAX_WEIGHT = 1000;

const WEIGHT = {
  kind: 'count',
  max: MAX_WEIGHT,
  expected: `a whole number from 0 to ${MAX_WEIGHT}`,
} as const satisfies Shape;

const ROUND_ROBIN_OPTIONS = {
  ...OPTIONS,
  start: {
    shape: COUNT,
    default: 0,
    decidesTarget: true,
    text: 'the member that has the first turn, counted from 0',
  },
  weights: {
    shape: { kind: 'map', value: WEIGHT, expected: 'a map from members to whole numbers' },
    decidesTarget: true,
    text: 'a map from members to their [weights](#weights); a member that is not in it has 1',
  },
} as const satisfies OptionTable;

const RULES: readonly OptionRule[] = [
  {
    kind: 'requires',
    alternatives: [['strategy']],
    message: 'has to be a list of client names',
    why: 'so it has no clients to choose among',
  },
];

const DOCS = { address: 'other clients', key: '', model: '' };

/** Asks its members in order until one succeeds. */
export const FALLBACK = {
  legacyName: 'baml-fallback',
  options: OPTIONS,
  rules: [
    ...RULES,
    { kind: 'refuses', option: 'weights', why: 'it asks its members in order; only `round-robin` has weights' },
  ],
  otherOptions: 'ignored',
  docs: DOCS,
} as const satisfies ProviderDescription<typeof OPTIONS>;

/** Asks one member for each call, the next one each time. */
export const ROUND_ROBIN = {
  legacyName: 'baml-round-robin',
  options: ROUND_ROBIN_OPTIONS,
  rules: [...RULES, { kind: 'weights-of', option: 'weights', list: 'strategy' }],
  otherOptions: 'ignored',
  docs: DOCS,
} as const satisfies ProviderDescription<typeof ROUND_ROBIN_OPTIONS>;
