import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { inEmptyDirectory, svc } from './command-line.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

inEmptyDirectory();

/** What the user typed, and what the one line in answer has to say. */
const MISTAKES: ReadonlyArray<readonly [string, string]> = [
  ['srve', 'unknown command "srve". Did you mean serve?'],
  ['serve --prot 80', 'unknown option "--prot". Did you mean --port?'],
  ['serve --port', 'option "--port <number>" argument missing'],
  ['serve --port 70000', '--port is "70000", but has to be a whole number from 0 to 65535'],
  ['serve --port=', '--port is "", but has to be a whole number from 0 to 65535'],
  ['serve --features betta', '--features is "betta", but has to be one of beta, display_all_warnings'],
  ['serve --features beta --features gamma', 'but has to be one of beta, display_all_warnings'],
  ['serve --log-level loud', '--log-level is "loud", but has to be one of off, error, warn, info, debug, trace'],
  ['serve --max-body lots', '--max-body is "lots", but has to be a size such as'],
  ['serve here', 'too many arguments for "serve"'],
  ['check --format xml', 'Allowed choices are pretty, json, github, sarif'],
  ['openapi --format xml', 'Allowed choices are json, yaml'],
  ['serve --preview', 'unknown option "--preview"'],
];

test.each(MISTAKES)('"svc %s" ends with 2 and one line that says what is allowed', async (line, expected) => {
  const { code, out, error } = await svc(...line.split(' '));
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(error).toContain(expected);
  expect(error).toMatch(/^svc: [^\n]+\n$/u);
});

test('without a command the help is shown, and it is bad usage', async () => {
  const { code, error } = await svc();
  expect(code).toBe(2);
  expect(error).toContain('Usage: svc <command> [options]');
});

test.each(['--version', '-v'])('%s prints the version and nothing else', async (flag) => {
  expect(await svc(flag)).toEqual({ code: 0, out: `${String(version)}\n`, error: '' });
});

test.each(['--help', '-h', 'help'])('%s lists the commands', async (flag) => {
  const { code, out } = await svc(flag);
  expect(code).toBe(0);
  for (const name of ['serve', 'check', 'init', 'openapi', 'healthcheck', 'fmt']) expect(out).toContain(`\n  ${name} `);
});

test.each(['serve --help', 'help serve'])('%s names every flag, its default and its variable', async (line) => {
  const { code, out } = await svc(...line.split(' '));
  expect(code).toBe(0);
  const text = out.replaceAll(/\s+/gu, ' ');
  for (const { flag, variable } of Object.values(SETTINGS)) {
    expect(text).toContain(`${flag} `);
    expect(text).toContain(`variable: ${variable})`);
  }
});
