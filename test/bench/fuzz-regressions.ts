import type { JsonValue } from '../../src/base/json.ts';

/** Inputs that broke an invariant in `npm run fuzz`, by target. */
export const REGRESSIONS: Readonly<Record<string, readonly JsonValue[]>> = {
  reply: [{ type: 0, reply: 'r:[]`on\n{{children"::[', deltas: [] }],
  definition: [
    'function R{prompt#"{{s| }}"#',
    'test A{x:t(#"',
    'function k()->s{"\ntest T{\n}',
    'function F(x:g)->n{{{}}"\nnO',
  ],
  template: [],
  options: [],
};
