import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { codeLines, scriptsIn } from './markdown.ts';

const PAGES = ['README.md', '.github/CONTRIBUTING.md', 'bench/README.md', 'docs/architecture.md', 'docs/cli.md', 'docs/comparison.md', 'docs/configuration.md', 'docs/faq.md', 'docs/language.md', 'docs/lifecycle.md', 'docs/migrating-from-baml.md', 'docs/operating.md', 'docs/replies.md', 'docs/runbook.md', 'docs/scaling.md', 'docs/security.md', 'docs/testing.md', 'docs/tools.md', 'docs/tutorial.md', 'SECURITY.md'];
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
};

test('the first screen of the README starts the server and runs the tests', () => {
  const lines = codeLines(page('README.md'));
  expect(lines[0]).toBe('npm ci && npm run dev -- --port 8080');
  expect(lines).toContainEqual(expect.stringMatching(/^npm ci && npm test\b/));
});

test.each(PAGES)('the npm scripts that %s names exist', (path) => {
  const scripts = scriptsIn(page(path));
  expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
});

test('scripts are found in code and in text', () => {
  const text = 'Run `npm run bench -- --quick`.\n\n```sh\nnpm test\nnpm start -- --port 1   # comment\n```\n';
  expect(scriptsIn(text)).toEqual(['bench', 'test', 'start']);
  expect(codeLines(text)).toEqual(['npm test', 'npm start -- --port 1   # comment']);
});

function page(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
