import { expect, expectTypeOf, test } from 'vitest';
import type { HttpProvider } from '../../../src/runtime/model/providers/provider.ts';
import { HTTP_PROVIDERS } from '../../../src/runtime/model/providers/providers.ts';
import { PROVIDER_DESCRIPTIONS, PROVIDERS, type HttpProviderName } from '../../../src/schema/providers/providers.ts';

type Registry = typeof HTTP_PROVIDERS;

test.each(PROVIDERS)('%s has wire code exactly if its description has an address', (name) => {
  expect(HTTP_PROVIDERS[name] !== undefined).toBe(PROVIDER_DESCRIPTIONS[name].http !== undefined);
});

test('a registry in which a provider has no wire code does not compile', () => {
  expectTypeOf<Registry[HttpProviderName]>().toEqualTypeOf<HttpProvider>();
  expectTypeOf<Omit<Registry, 'anthropic'>>().not.toExtend<Registry>();
  expectTypeOf<Omit<Registry, 'anthropic'> & { readonly anthropic: undefined }>().not.toExtend<Registry>();
  expectTypeOf<Omit<Registry, 'fallback'>>().not.toExtend<Registry>();
  expect(Object.keys(HTTP_PROVIDERS).toSorted()).toEqual([...PROVIDERS].toSorted());
});
