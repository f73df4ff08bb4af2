// Takes the picture in the README: the playground in the middle of a stream. It needs Chromium, but no network and no key:
//
//   npm run build && node docs/pictures/playground.mjs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));

const definitions = slowSamples();
const server = spawn(process.execPath, [join(root, 'dist/bin/svc.js'), 'dev', definitions, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  await takePicture(await addressOfServer());
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(definitions, { recursive: true });
}

/** The samples, with a model that writes slowly enough for a picture. */
function slowSamples() {
  const copy = mkdtempSync(join(tmpdir(), 'svc-picture-'));
  cpSync(join(root, 'svc_src'), copy, { recursive: true });
  const clients = join(copy, 'clients.svc');
  writeFileSync(clients, readFileSync(clients, 'utf8').replace('chunk_delay_ms 15', 'chunk_delay_ms 150'));
  return copy;
}

/** Reads the lines of the start until one of them names the address. */
async function addressOfServer() {
  for await (const line of createInterface({ input: server.stdout })) {
    const [address] = /http:\/\/\w+:\d+/u.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('svc dev did not start');
}

async function takePicture(address) {
  const context = { viewport: { width: 1280, height: 620 }, deviceScaleFactor: 1.5, colorScheme: 'light' };
  const page = await browser.newPage(context);
  await page.goto(`${address}/playground`);
  await page.getByRole('navigation').getByRole('link', { name: 'ExtractResume', exact: true }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.value-view', { hasText: '"Programmer"' }).waitFor();
  await page.screenshot({ path: join(root, 'docs/pictures/playground.png') });
}
