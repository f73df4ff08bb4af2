import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';
import { copySamples, inEmptyDirectory, svc } from './command-line.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

inEmptyDirectory();

/** A command line, and a part of the one line that svc must answer. */
const MISTAKES: ReadonlyArray<readonly [string, string]> = [
  ['srve', 'svc: unknown command "srve". Did you mean "serve"? See "svc --help".'],
  ['deploy', 'svc: unknown command "deploy". See "svc --help".'],
  ['start', 'svc: unknown command "start". Did you mean "serve"? See "svc --help".'],
  ['run', 'svc: unknown command "run". Did you mean "serve"?'],
  ['lint', 'svc: unknown command "lint". Did you mean "check"?'],
  ['generate', 'svc: unknown command "generate". Did you mean "openapi"?'],
  ['test --filter Foo', 'unknown option "--filter". Did you mean "--include"? See "svc test --help".'],
  ['test -k Foo', 'unknown option "-k". Did you mean "-i"?'],
  ['serve -k Foo', 'unknown option "-k"'],
  ['test Foo', '"Foo" does not exist. To select tests by name, run "svc test -i Foo"'],
  ['test Foo::Bar', '"Foo::Bar" does not exist. To select tests by name, run "svc test -i Foo::Bar"'],
  ['test a/b', 'svc: "a/b" does not exist\n'],
  ['version', 'svc: unknown command "version". Did you mean "--version"?'],
  ['/', 'svc: unknown command "/". To serve this path, run "svc dev /".'],
  ['help srve', 'svc: unknown command "srve". Did you mean "serve"?'],
  ['-V', 'unknown option "-V". Did you mean "-v"?'],
  ['--port 80', 'unknown option "--port". Write it after a command: "svc serve --port".'],
  ['serve --prot 80', 'unknown option "--prot". Did you mean "--port"? See "svc serve --help".'],
  ['serve -p 80', 'unknown option "-p". Did you mean "--port"?'],
  ['serve --password secret', 'unknown option "--password". Set SVC_PASSWORD: every user of a machine can read'],
  ['dev --open=yes', 'svc: --open takes no value, but got "yes". See "svc dev --help".'],
  ['types --out main.svc', '--out is "main.svc", but must be the path of a .ts file, such as svc.d.ts'],
  ['serve --port', 'svc: --port needs a value: "--port <number>". See "svc serve --help".'],
  ['serve --port 70000', '--port is "70000", but must be a whole number from 0 to 65535'],
  ['serve --workers 0', '--workers is "0", but must be a whole number from 1 to 256'],
  ['serve --transport quic', '--transport is "quic", but must be one of auto, uws, node'],
  ['serve --port 8\n9', '--port is "8\\n9", but must be a whole number from 0 to 65535'],
  ['check --format a\nb', '--format is "a\\nb", but must be one of pretty, json, github, sarif'],
  ['serve --from=', '--from is "", but must be the path of a directory or file'],
  ['serve --features betta', '--features is "betta", but must be one of beta, display_all_warnings'],
  [
    'serve --features beta .',
    '--features takes all values that follow it, including ".": pass the directory before the flag',
  ],
  ['serve --max-body lots', '--max-body is "lots", but must be a size such as'],
  ['serve here there', 'too many arguments for "serve"'],
  ['check ', 'the argument is "", but must be the path of a directory or file'],
  ['serve here --from there', 'both the argument "here" and --from "there" name the definitions: pass only one'],
  ['check --format jsn', '--format is "jsn", but must be one of pretty, json, github, sarif. Did you mean "json"?'],
  ['dev --types main.svc', '--types is "main.svc", but must be the path of a .ts file, such as svc.d.ts'],
  ['serve --preview', 'unknown option "--preview"'],
];

test('the selection that "svc test Foo" advises runs the test', async () => {
  copySamples();
  const { error } = await svc('test', 'ExtractResume');
  const [, advised = ''] = /run "svc (.*)"/u.exec(error) ?? [];
  const { code, out } = await svc(...advised.split(' '));
  expect({ code, passed: out.includes('ExtractResume') }).toEqual({ code: 0, passed: true });
});

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

const COMMANDS_WITH_PATH = ['serve', 'dev', 'check', 'fmt', 'init', 'openapi', 'types'];

test.each([...COMMANDS_WITH_PATH, 'test', 'healthcheck'])(
  'a flag of %s with a typo ends with 2 and the nearest flag',
  async (name) => {
    const { code, error } = await svc(name, '--dotnev');
    const line = `svc: unknown option "--dotnev". Did you mean "--dotenv"? See "svc ${name} --help".\n`;
    expect({ code, error }).toEqual({ code: 2, error: line });
  },
);

test.each(['serve --help', 'help serve'])('%s lists every flag with its default', async (line) => {
  const { code, out } = await svc(...line.split(' '));
  expect(code).toBe(0);
  const text = out.replaceAll(/\s+/gu, ' ');
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);
  for (const { flag, variable } of settings) expect(text).toContain(` ${flag ?? variable} `);
  expect(text).toContain(' --no-dotenv ');
  expect(text).toContain(' Port of the server; 0 selects a free one (default: 2024)');
  expect(text).toContain('(env: SVC_LOG_LEVEL or BAML_LOG)');
});

test('the variable of a flag has the name that the help describes', () => {
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);
  for (const { flag, variable } of settings) {
    if (flag === undefined) continue;
    const [name = ''] = flag.replace('--no-', '--').split(' ');
    expect(variable).toBe(name.replace('--', 'SVC_').replaceAll('-', '_').toUpperCase());
  }
});

test.each(['', ...COMMANDS_WITH_PATH, 'test', 'healthcheck', 'help'])(
  'the help of "%s" has groups, and fits a terminal of 100 columns',
  async (name) => {
    const { code, out } = await svc('help', ...name.split(' ').filter((part) => part !== ''));
    expect(code).toBe(0);
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect(out.includes('\nOptions:\n')).toBe(name === '');
  },
);

test('the flags of svc serve are in groups, and those of its address are together', async () => {
  const { out } = await svc('serve', '--help');
  const groups = out.split('\n').filter((line) => /^[A-Z].*:$/u.test(line));
  expect(groups.slice(0, 12)).toEqual([
    'Arguments:',
    'Definitions:',
    'Environment:',
    'Listening:',
    'Pages:',
    'Doors:',
    'Limits:',
    'Answers:',
    'Kept calls:',
    'Processes:',
    'Security:',
    'Logging:',
  ]);
  const listening = out.slice(out.indexOf('\nListening:'), out.indexOf('\nPages:'));
  for (const flag of ['--port', '--host', '--base-path']) expect(listening).toContain(`\n  ${flag} `);
});

test('dev --help shows the defaults of svc dev, and not the flags of a server for others', async () => {
  const { code, out } = await svc('dev', '--help');
  expect(code).toBe(0);
  const text = out.replaceAll(/\s+/gu, ' ');
  expect(text).toContain(
    '--host <address> Address of the server; 0.0.0.0 accepts callers from other machines (default: 127.0.0.1)',
  );
  expect(text).toContain('(default: pretty)');
  expect(text).toContain('do not set it behind a proxy on this machine (default: on)');
  expect(text).not.toContain('--workers');
});
