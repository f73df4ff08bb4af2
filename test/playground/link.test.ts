import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linkFragment, stateOfLink } from '../../src/playground/data/link.ts';
import { assertAsyncProperty } from '../support/assert-property.ts';

test('a link restores every state', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), async (functionName, args) => {
      const state = {
        functionName,
        args: JSON.parse(JSON.stringify(args)),
        mode: 'call' as const,
        client: 'A',
        other: 'B',
      };
      const fragment = await linkFragment(state);
      expect(fragment).toMatch(/^#s=[\w-]+$/u);
      expect(await stateOfLink(fragment)).toEqual(state);
    }),
  );
});

test.each([
  ['nothing', ''],
  ['another fragment', '#top'],
  ['text that is not compressed', '#s=abcdef'],
  ['JSON that is not a state', fragmentOf('[1]')],
  ['a state without a function', fragmentOf('{"args":{}}')],
  ['text that is not JSON', fragmentOf('{')],
  ['content that expands to gigabytes', fragmentOf(`"${'a'.repeat(5_000_000)}"`)],
])('a link with %s restores nothing', async (_, fragment) => {
  expect(await stateOfLink(fragment)).toBeUndefined();
});

test('members of the wrong type are left out', async () => {
  const state = { functionName: 'F', args: [], mode: 'walk', client: 1, other: null };
  expect(await stateOfLink(fragmentOf(JSON.stringify(state)))).toEqual({ functionName: 'F' });
});

function fragmentOf(json: string): string {
  return `#s=${deflateRawSync(json).toString('base64url')}`;
}
