import { expect, test } from 'vitest';
import type { CallPoint } from '../../src/schema/kept-call.ts';
import { fakeCalls, serveFakeCalls } from './fake-calls.ts';
import { PHONE, usePlayground } from './playground-page.ts';

const { visit } = usePlayground();

const HALF_HOUR = 1_800_000;

function points(factor: number): readonly CallPoint[] {
  const end = Math.floor(Date.now() / HALF_HOUR) * HALF_HOUR;
  return Array.from({ length: 40 }, (_, at) => {
    const calls = Math.round(factor * (2 + Math.sin(at / 4) + (at % 3)));
    const failures = at % 7 === 0 ? factor : 0;
    const tokens = { inputTokens: calls * 900, outputTokens: calls * 120 };
    return {
      at: end - (39 - at) * HALF_HOUR,
      calls,
      failures,
      lossy: 0,
      cost: calls * 0.0021,
      ms: calls * 800,
      ...tokens,
    };
  });
}

const FAKE = fakeCalls({
  series: [
    { functionName: 'Failing', points: points(1) },
    { functionName: 'Repaired', points: points(10) },
    { functionName: 'Idle', points: [] },
  ],
});

test('charts show calls, failures, cost and tokens of all functions and of each, the most called first', async () => {
  const { page, troubles, picture } = await visit({}, '#charts', serveFakeCalls(FAKE));
  await page.getByRole('region', { name: 'All functions' }).waitFor();
  expect(await page.locator('.function-charts h2').allInnerTexts()).toEqual(['All functions', 'Repaired', 'Failing']);
  const total = points(10).reduce((sum, { calls }) => sum + calls, 0);
  const repaired = page.getByRole('region', { name: 'Repaired' });
  const label = (await repaired.getByRole('img').first().getAttribute('aria-label')) ?? '';
  expect(label).toMatch(new RegExp(`^Calls: ${total.toLocaleString('en-US')}, at most \\d+ in 30 minutes, from `, 'u'));
  expect(await repaired.locator('.chart-calls rect').count()).toBe(40);
  await picture('charts-light-1280');
  await repaired.getByRole('link', { name: 'Repaired' }).click();
  await expect.poll(() => page.url()).toMatch(/#calls\?function=Repaired&range=day$/u);
  expect(troubles).toEqual([]);
});

test('the time of the charts is part of the address', async () => {
  const { page } = await visit({}, '', serveFakeCalls(FAKE));
  await page.getByRole('link', { name: 'Charts' }).click();
  await page.getByRole('link', { name: 'Last week' }).click();
  await expect.poll(() => page.url()).toMatch(/#charts\?range=week$/u);
  await page.goBack();
  await expect.poll(() => page.url()).toMatch(/#charts\?range=day$/u);
});

test.each(['light', 'dark'] as const)('the charts fit a phone, in %s', async (colorScheme) => {
  const { page, picture, troubles } = await visit({ ...PHONE, colorScheme }, '#charts', serveFakeCalls(FAKE));
  await page.locator('.chart').first().waitFor();
  await picture(`charts-${colorScheme}-390`);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(troubles).toEqual([]);
});
