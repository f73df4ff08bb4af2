import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { startServer, type RunningServer, type ServerOptions } from '../support/running-server.ts';
import { launchBrowser } from '../support/launch-browser.ts';

/** Functions with parameters and replies of every kind. */
export const DEFINITIONS = fileURLToPath(new URL('playground-definitions', import.meta.url));

/** The folder of the screenshots, for a person to look at. */
const PICTURES = join(tmpdir(), 'svc-playground-pictures');

/** The page in a browser. */
export interface Visit {
  readonly page: Page;
  /** Requests to other servers, violations of the content security policy, and script errors. */
  readonly troubles: readonly string[];
  /** Saves a picture of the window. */
  readonly picture: (name: string) => Promise<void>;
}

export interface Playground {
  readonly server: () => RunningServer;
  /** `prepare` runs before the page loads. */
  readonly visit: (
    options?: BrowserContextOptions,
    fragment?: string,
    prepare?: (page: Page) => Promise<void>,
  ) => Promise<Visit>;
}

/** Starts a server and a browser for the tests of a file. */
export function usePlayground(options: ServerOptions = { command: 'dev', from: DEFINITIONS }): Playground {
  let browser: Browser | undefined;
  let server: RunningServer | undefined;
  beforeAll(async () => {
    mkdirSync(PICTURES, { recursive: true });
    server = await startServer(options);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });
  const running = (): RunningServer => {
    if (server === undefined) throw new Error('the server does not run');
    return server;
  };
  const visit: Playground['visit'] = async (context = {}, fragment = '', prepare) => {
    if (browser === undefined) throw new Error('the browser does not run');
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, ...context });
    const troubles = watchTroubles(page, running().url);
    await prepare?.(page);
    await page.goto(`${running().url}/playground${fragment}`);
    return {
      page,
      troubles,
      picture: async (name) => void (await page.screenshot({ path: join(PICTURES, `${name}.png`) })),
    };
  };
  return { server: running, visit };
}

function watchTroubles(page: Page, server: string): readonly string[] {
  const troubles: string[] = [];
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== server && protocol !== 'data:' && protocol !== 'blob:') troubles.push(`request to ${origin}`);
  });
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/u.test(message.text())) troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  return troubles;
}

export const PHONE = { viewport: { width: 390, height: 844 } };

/** Selects a function in a wide window. */
export async function selectFunction(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Functions' }).getByRole('link', { name, exact: true }).click();
}

/** The arguments in the JSON view. */
export async function argumentsOf(page: Page): Promise<unknown> {
  await page.getByText('JSON', { exact: true }).click();
  const text = await page.locator('.json-editor .cm-content').innerText();
  await page.getByText('Form', { exact: true }).click();
  return JSON.parse(text);
}

/** Replaces the text of the JSON view with what a user types. */
export async function typeJson(page: Page, text: string): Promise<void> {
  await page.locator('.json-editor .cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

/** Runs the function and waits for its end. */
export async function run(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.run').first().waitFor();
  await page.locator('.state-waiting.state, .state-streaming.state').first().waitFor({ state: 'detached' });
}
