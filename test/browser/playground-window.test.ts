import { expect, test } from 'vitest';
import { PHONE, run, selectFunction, usePlayground, type Visit } from './playground-page.ts';

const { visit } = usePlayground();

/** By how many pixels the window, or a part of it that scrolls, is too narrow; or the window too low; or a control is cut. */
async function overflow({ page }: Visit): Promise<unknown> {
  return page.evaluate(`Math.max(
    document.documentElement.scrollWidth - innerWidth,
    document.documentElement.scrollHeight - innerHeight,
    ...[...document.querySelectorAll('.input-scroll, .output-scroll')].map((part) => part.scrollWidth - part.clientWidth),
    ...[...document.querySelectorAll('button, select, input')].map((control) => Math.ceil(control.getBoundingClientRect().right) - innerWidth),
  )`);
}

test.each(['light', 'dark'] as const)('a phone shows one part at a time, in %s', async (colorScheme) => {
  const phone = await visit({ ...PHONE, colorScheme });
  const { page, picture, troubles } = phone;
  await page.getByLabel('text', { exact: true }).waitFor();
  expect(await overflow(phone)).toBe(0);
  await picture(`input-${colorScheme}-390`);
  await page.getByRole('tab', { name: /Prompt/u }).click();
  await page.locator('.role-user').waitFor();
  expect(await page.getByLabel('text', { exact: true }).isVisible()).toBe(false);
  await picture(`prompt-${colorScheme}-390`);
  await page.getByLabel('Function', { exact: true }).selectOption('Repaired');
  await page.getByRole('tab', { name: 'Input' }).click();
  await page.getByLabel('Compare').check();
  await page.getByLabel('Client B').selectOption({ label: 'Brief (offline)' });
  expect(await overflow(phone)).toBe(0);
  await picture(`clients-${colorScheme}-390`);
  await run(page);
  await page.locator('.comparison-summary').waitFor();
  expect(await overflow(phone)).toBe(0);
  await picture(`comparison-${colorScheme}-390`);
  await page.getByRole('tab', { name: 'Input' }).click();
  await page.getByLabel('Compare').uncheck();
  await run(page);
  await page.locator('.candidate-taken').waitFor();
  expect(await overflow(phone)).toBe(0);
  await picture(`answer-${colorScheme}-390`);
  await page.locator('.candidate-taken').scrollIntoViewIfNeeded();
  await picture(`parser-${colorScheme}-390`);
  await page.getByRole('tab', { name: /History/u }).click();
  expect(await overflow(phone)).toBe(0);
  await picture(`history-${colorScheme}-390`);
  expect(troubles).toEqual([]);
});

test('a window of any width has room for everything', async () => {
  const tablet = await visit({ viewport: { width: 920, height: 700 } });
  await run(tablet.page);
  for (const width of [320, 390, 640, 899, 900, 1024, 1280, 1920]) {
    await tablet.page.setViewportSize({ width, height: 700 });
    expect(await overflow(tablet), String(width)).toBe(0);
  }
  await tablet.picture('answer-light-1920');
});

test("the theme follows the system, and the page keeps the user's choice", async () => {
  const { page } = await visit({ colorScheme: 'dark' });
  const background = (): Promise<unknown> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const dark = await background();
  await page.getByRole('button', { name: 'Change between dark and light' }).click();
  const light = await background();
  expect(light).not.toBe(dark);
  await page.reload();
  expect(await background()).toBe(light);
});

test('a keyboard suffices: to select a function, fill in the form, run it, and read the answer', async () => {
  const { page, picture } = await visit();
  const focused = (): Promise<unknown> =>
    page.evaluate(
      `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.innerText ?? '').trim()`,
    );
  const tabTo = async (name: string): Promise<void> => {
    for (let steps = 0; (await focused()) !== name; steps += 1) {
      expect(steps, `no way to ${name}`).toBeLessThan(60);
      await page.keyboard.press('Tab');
    }
  };
  await page.getByRole('heading', { name: 'Everything' }).waitFor();
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Skip to the content');
  await tabTo('Everything');
  await page.keyboard.press('ArrowDown');
  expect(await focused()).toBe('Repaired');
  await page.keyboard.press('Enter');
  await tabTo('Example');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('keys');
  await page.locator('.message', { hasText: 'Rate keys.' }).waitFor();
  await picture('keyboard-light-1280');
  await tabTo('Run');
  await page.keyboard.press('Enter');
  await page.locator('.candidate-taken').waitFor();
  await page.getByRole('tab', { name: 'Answer' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.locator('.history-row').waitFor();
  expect(await focused()).toContain('History');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  expect(await page.locator('.message').first().isVisible()).toBe(true);
});

test('the list of functions is one stop for Tab, and a link leads past it', async () => {
  const { page } = await visit();
  const stops = page.getByRole('navigation', { name: 'Functions' }).locator('[tabindex="0"]');
  expect(await stops.allInnerTexts()).toEqual(['Everything']);
  await page.getByText('Skip to the content').focus();
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('content');
  expect(page.url()).not.toContain('#');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.closest(".input-scroll") !== null')).toBe(true);
});

test('the address follows the selected function, so that Back returns to the one before', async () => {
  const { page } = await visit();
  await selectFunction(page, 'Repaired');
  await selectFunction(page, 'Failing');
  expect(page.url()).toMatch(/#run\/Failing$/u);
  await page.goBack();
  await page.getByRole('heading', { name: 'Repaired' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Everything' }).waitFor();
  await page.goForward();
  await page.reload();
  await page.getByRole('heading', { name: 'Repaired' }).waitFor();
});

test('every control has a name, and its role fits what it does', async () => {
  const { page } = await visit();
  await page.getByRole('button', { name: 'Add picture' }).click();
  await run(page);
  const unnamed = await page.evaluate(`[...document.querySelectorAll('button, input, select, textarea, a')]
    .filter((element) => {
      const labelled = element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '';
      return labelled.trim() === '';
    })
    .map((element) => element.outerHTML)`);
  expect(unnamed).toEqual([]);
  expect(await page.getByRole('tablist', { name: 'Views' }).getByRole('tab').count()).toBe(3);
  expect(await page.getByRole('tabpanel').count()).toBe(1);
});
