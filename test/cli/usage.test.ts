import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/config.ts';
import type { Setting } from '../../src/config/setting.ts';
import { inEmptyDirectory, svc } from './command-line.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

inEmptyDirectory();

/** A command line, and a part of the one line that svc must answer. */
const MISTAKES: ReadonlyArray<readonly [string, string]> = [
  ['srve', 'unknown command "srve". Did you mean serve?'],
  ['serve --prot 80', 'unknown option "--prot". Did you mean --port?'],
  ['serve --port', 'option "--port <number>" argument missing'],
  ['serve --port 70000', '--port is "70000", but must be a whole number from 0 to 65535'],
  ['serve --port 8\n9', '--port is "8\\n9", but must be a whole number from 0 to 65535'],
  ['check --format a\nb', 'option "--format <name>" argument "a b" is invalid. Allowed choices are pretty'],
  ['serve --from=', '--from is "", but must be the path of a directory or file'],
  ['serve --port=', '--port is "", but must be a whole number from 0 to 65535'],
  ['serve --features betta', '--features is "betta", but must be one of beta, display_all_warnings'],
  [
    'serve --features beta .',
    '--features takes all values that follow it, including ".": pass the directory before the flag',
  ],
  ['serve --features beta --features gamma', 'but must be one of beta, display_all_warnings'],
  ['serve --log-level loud', '--log-level is "loud", but must be one of off, error, warn, info, debug, trace'],
  ['serve --max-body lots', '--max-body is "lots", but must be a size such as'],
  ['serve here there', 'too many arguments for "serve"'],
  ['check ', 'the argument is "", but must be the path of a directory or file'],
  ['serve here --from there', 'both the argument "here" and --from "there" name the definitions: pass only one'],
  ['fmt --from same same', 'both the argument "same" and --from "same" name the definitions: pass only one'],
  ['healthcheck here', 'too many arguments for "healthcheck"'],
  ['check --format xml', 'Allowed choices are pretty, json, github, sarif'],
  ['openapi --format xml', 'Allowed choices are json, yaml'],
  ['dev --types main.svc', 'argument "main.svc" is invalid. It must be the path of a .ts file, such as svc.d.ts'],
  ['serve --preview', 'unknown option "--preview"'],
];

test.each(MISTAKES)('"svc %s" ends with 2 and one line that states what is allowed', async (line, expected) => {
  const { code, out, error } = await svc(...line.split(' '));
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(error).toContain(expected);
  expect(error).toMatch(/^svc: [^\n]+\n$/u);
});

test('without a command, svc shows its help and ends with 2', async () => {
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
  for (const name of ['serve', 'dev', 'test', 'check', 'init', 'openapi', 'types', 'healthcheck', 'fmt'])
    expect(out).toContain(`\n  ${name} `);
});

test.each(['serve --help', 'help serve'])('%s lists every flag and every variable', async (line) => {
  const { code, out } = await svc(...line.split(' '));
  expect(code).toBe(0);
  const text = out.replaceAll(/\s+/gu, ' ');
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);
  for (const { flag, variable, bamlVariable } of settings) {
    const variables = bamlVariable === undefined ? variable : `${variable} or ${bamlVariable}`;
    if (flag !== undefined) expect(text).toContain(` ${flag} `);
    expect(text).toContain(flag === undefined ? ` ${variables} ` : `(env: ${variables})`);
  }
  expect(text).toContain(' --no-dotenv ');
  expect(text).toContain(' Port to listen on; 0 selects a free one (default: 2024) (env: SVC_PORT)');
});

test('dev --help shows the defaults of svc dev, and not the flags of a server for others', async () => {
  const { code, out } = await svc('dev', '--help');
  expect(code).toBe(0);
  const text = out.replaceAll(/\s+/gu, ' ');
  expect(text).toContain('--host <address> Address to listen on (default: 127.0.0.1) (env: SVC_HOST)');
  expect(text).toContain('(default: pretty) (env: SVC_LOG_FORMAT)');
  expect(text).not.toContain('--workers');
});
