import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { freePort } from '../support/free-port.ts';
import { launchBrowser } from '../support/launch-browser.ts';

/** The extension for Visual Studio Code. `npm ci` in `editors/vscode` installs what builds it. */
const EXTENSION = join(ROOT, 'editors/vscode');
const PACKAGE = join(EXTENSION, 'svc.vsix');

/** The command that starts code-server, which is Visual Studio Code in a browser, such as `node /opt/code-server/out/node/entry.js`. */
const codeServer = process.env['CODE_SERVER']?.split(' ');

beforeAll(() => {
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', EXTENSION]);
  rmSync(PACKAGE, { force: true });
  execFileSync('npm', ['run', '--silent', 'package'], { cwd: EXTENSION });
});

test('the extension is packed with its program, grammar and configuration, and nothing else', () => {
  const folder = temporaryFolder();
  execFileSync('python3', ['-m', 'zipfile', '-e', PACKAGE, folder]);
  const files = readdirSync(join(folder, 'extension'), { recursive: true, withFileTypes: true });
  expect(
    files
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['extension.js', 'language-configuration.json', 'package.json', 'readme.md', 'svc.tmLanguage.json']);
  const program = readFileSync(join(folder, 'extension/dist/extension.js'), 'utf8');
  expect([...program.matchAll(/require\("(?<name>[^"./][^"]*)"\)/gu)].map(({ groups }) => groups?.['name'])).toContain(
    'vscode',
  );
});

/** For the page: the number of colours in the text. */
const COLOURS = `new Set([...document.querySelectorAll('.view-line span span')].map((part) => getComputedStyle(part).color)).size`;

test.skipIf(codeServer === undefined)('Visual Studio Code shows a mistake and the lenses of a test', async () => {
  const folder = temporaryFolder();
  const [program = '', ...args] = codeServer ?? [];
  const project = join(folder, 'project');
  cpSync(join(ROOT, 'svc_src'), join(project, 'svc_src'), { recursive: true });
  mkdirSync(join(folder, 'data/User'), { recursive: true });
  const settings = {
    'svc.command': [process.execPath, join(ROOT, 'dist/bin/svc.js')],
    'workbench.startupEditor': 'none',
    'security.workspace.trust.enabled': false,
  };
  writeFileSync(join(folder, 'data/User/settings.json'), JSON.stringify(settings));
  const folders = ['--user-data-dir', join(folder, 'data'), '--extensions-dir', join(folder, 'extensions')];
  const env = { ...process.env, HOME: folder };
  execFileSync(program, [...args, ...folders, '--install-extension', PACKAGE], { env });
  const address = `127.0.0.1:${await freePort()}`;
  const server = spawn(
    program,
    [...args, ...folders, '--auth', 'none', '--disable-telemetry', '--bind-addr', address],
    {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  onTestFinished(async () => {
    if (server.exitCode !== null) return;
    server.kill();
    await once(server, 'exit');
  });
  await new Promise<void>((resolve) => {
    server.stdout.on('data', (text: Buffer) => text.includes('HTTP server listening') && resolve());
  });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`http://${address}/?folder=${encodeURIComponent(project)}`);
  await page.getByText('svc_src', { exact: true }).first().click();
  await page.getByText('contacts.svc', { exact: true }).first().dblclick();
  await page.getByText('Run test').first().waitFor();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\nfunction Broken(x: strng) -> Contact {\n');
  await page.keyboard.press('Control+Shift+M');
  await page.getByText('There is no type "strng".').first().waitFor();
  // Keywords, names, types, keys and text.
  expect(await page.evaluate<number>(COLOURS)).toBeGreaterThan(4);
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-editors-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
