import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { launchBrowser } from '../support/launch-browser.ts';

/** Builds the site of the documentation and opens it in Chromium. `npm ci` in `site` installs VitePress. */
const SITE = join(ROOT, 'site');
const HTML = join(SITE, 'dist/html');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
};

const run = promisify(execFile);

let server: Server;
let address: string;
let browser: Browser;

beforeAll(async () => {
  await run(process.execPath, [join(SITE, 'node_modules/vitepress/bin/vitepress.js'), 'build', SITE]);
  server = createServer(({ url = '' }, response) => {
    const path = decodeURIComponent(new URL(url, address).pathname).replace(/\/$/u, '/index.html');
    const file = join(HTML, path);
    response.writeHead(existsSync(file) ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'text/plain' });
    response.end(existsSync(file) ? readFileSync(file) : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://localhost:${(server.address() as AddressInfo).port}`;
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  server.close();
});

/** The addresses of all pages, such as `/docs/tutorial.html`. */
function pages(): readonly string[] {
  const files = readdirSync(HTML, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.html') && file !== '404.html').map((file) => `/${file}`);
}

/** The links of a page to other parts of the site, as absolute paths with their anchors. */
function linksOf(page: string): readonly string[] {
  const hrefs = [...readFileSync(join(HTML, page), 'utf8').matchAll(/ (?:href|src)="([^"]+)"/gu)].map(
    ([, href]) => href ?? '',
  );
  const here = hrefs.filter((href) => !/^[a-z]+:/u.test(href)).map((href) => new URL(href, `http://site${page}`));
  return here.map(({ pathname, hash }) => decodeURIComponent(pathname + hash));
}

function leadsSomewhere(link: string): boolean {
  const [path = '', anchor] = link.split('#', 2);
  const file = join(HTML, path.endsWith('/') ? posix.join(path, 'index.html') : path);
  if (!existsSync(file)) return false;
  return anchor === undefined || readFileSync(file, 'utf8').includes(`id="${anchor}"`);
}

/** Opens a page in a window of this width. Collects requests to other hosts, failed requests and errors of scripts. */
async function visit(width: number): Promise<{ readonly page: Page; readonly troubles: readonly string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 860 } });
  const troubles: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith('data:') && !request.url().startsWith(address)) troubles.push(request.url());
  });
  page.on('response', (response) => {
    if (response.status() >= 400) troubles.push(`${response.status()} ${response.url()}`);
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  return { page, troubles };
}

test('the site has all pages of the documentation', () => {
  const sources = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const expected = sources.flatMap((name) =>
    name.endsWith('.md') ? [`/docs/${name.replace(/\.md$/u, '.html')}`] : [],
  );
  expect(expected.length).toBeGreaterThan(50);
  expect(pages()).toEqual(expect.arrayContaining(expected.map((name) => name.replace('README.html', 'index.html'))));
});

test('every link leads to a page, an anchor or a file of the site', () => {
  const broken = pages().flatMap((page) =>
    linksOf(page).flatMap((link) => (leadsSomewhere(link) ? [] : [`${page}: ${link}`])),
  );
  expect([...new Set(broken)]).toEqual([]);
});

test.each([390, 1280])('in a window of %i pixels, no page is too wide or asks another host', async (width) => {
  const { page, troubles } = await visit(width);
  const wide: string[] = [];
  for (const path of pages()) {
    await page.goto(address + path);
    await page.locator('.vp-doc h1').first().waitFor();
    const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    if (excess !== 0) wide.push(path);
  }
  expect(wide).toEqual([]);
  expect(troubles).toEqual([]);
});

/** In the page: the texts of links in the outline that have an ellipsis, or end beyond the edge of the window. */
const CUT_LINKS = `[...document.querySelectorAll('.VPDocAsideOutline .outline-link')]
  .filter((link) => link.getBoundingClientRect().right > innerWidth || link.scrollWidth > link.clientWidth)
  .map((link) => link.textContent)`;

test.each([1280, 1440])('in a window of %i pixels, the outline of a page is whole', async (width) => {
  const { page } = await visit(width);
  for (const path of ['/docs/clients.html', '/docs/http.html', '/docs/callers/index.html']) {
    await page.goto(address + path);
    const links = page.locator('.VPDocAsideOutline .outline-link');
    await links.first().waitFor();
    expect(await page.evaluate(CUT_LINKS), path).toEqual([]);
    expect(await links.count()).toBeGreaterThan(1);
  }
});

test('the search finds a section and opens it', async () => {
  const { page, troubles } = await visit(1280);
  await page.goto(`${address}/`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('pool-purge-delay');
  await page.locator('.VPLocalSearchBox .result').first().click();
  await page.getByRole('heading', { name: /^Gateways/u }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/docs/operating.html');
  expect(troubles).toEqual([]);
});
