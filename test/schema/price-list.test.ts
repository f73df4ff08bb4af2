import { expect, test } from 'vitest';
import { pricesOf, type PriceList } from '../../src/schema/price-list.ts';
import type { Provider } from '../../src/schema/providers/providers.ts';

/** A list whose entries cost 1, 2, 3, … in their order, from texts such as `openai/gpt-*` or `*`. */
function listOf(...entries: readonly string[]): PriceList {
  return entries.map((text, index) => {
    const [provider, pattern] = text.includes('/') ? text.split('/', 2) : [undefined, text];
    const prices = { pattern: pattern ?? '', input: index + 1, output: 0, cached_input: undefined };
    return provider === undefined ? prices : { ...prices, provider: provider as Provider };
  });
}

/** Pattern, names that match, names that do not. */
const PATTERNS: ReadonlyArray<readonly [string, readonly string[], readonly string[]]> = [
  ['gpt-4o', ['gpt-4o'], ['gpt-4o-mini', 'a-gpt-4o', 'GPT-4o', '']],
  ['gpt-4o*', ['gpt-4o', 'gpt-4o-mini'], ['gpt-4', 'a-gpt-4o']],
  ['*-mini', ['gpt-4o-mini', '-mini'], ['mini', 'gpt-4o-mini-2']],
  ['*sonnet*', ['sonnet', 'claude-sonnet-4'], ['claude-sonet']],
  ['a*b*a', ['aba', 'abba', 'a-b-a'], ['a', 'aa', 'ab', 'abab']],
  ['ab*ba', ['abba', 'ab-ba'], ['aba', 'ab', 'ba']],
  ['a.c', ['a.c'], ['abc']],
  ['**', ['', 'x'], []],
];

test.each(PATTERNS)('the pattern %s matches its names only', (pattern, matching, others) => {
  const list = listOf(pattern);
  for (const name of matching) expect(pricesOf(list, 'openai', name), name).toBeDefined();
  for (const name of others) expect(pricesOf(list, 'openai', name), name).toBeUndefined();
});

/** Entries, the model of provider openai, and the number of the entry that wins. */
const WINNERS: ReadonlyArray<readonly [readonly string[], string, number | undefined]> = [
  [['*', 'gpt-*', 'gpt-4o*'], 'gpt-4o-mini', 3],
  [['gpt-4o*', 'gpt-*', '*'], 'gpt-4o-mini', 1],
  [['gpt-4o-mini', 'gpt-4o-mini*', '*gpt-4o-mini**'], 'gpt-4o-mini', 1],
  [['gpt-4o*', 'openai/gpt-4o*'], 'gpt-4o', 2],
  [['openai/gpt-*', 'gpt-4o*'], 'gpt-4o', 2],
  [['anthropic/gpt-4o', 'gpt-*'], 'gpt-4o', 2],
  [['anthropic/*'], 'gpt-4o', undefined],
];

test.each(WINNERS)('of %j, the most specific entry has the prices of %s', (entries, model, winner) => {
  expect(pricesOf(listOf(...entries), 'openai', model)?.input).toBe(winner);
});

test('a client without a model, and one without a list, have no prices', () => {
  expect(pricesOf(listOf('*'), 'openai', undefined)).toBeUndefined();
  expect(pricesOf(undefined, 'openai', 'gpt-4o')).toBeUndefined();
});
