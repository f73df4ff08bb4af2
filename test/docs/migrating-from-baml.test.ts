import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPTIONS_KEYS } from '../../src/base/json.ts';
import { runProgram } from '../../src/cli/program.ts';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';
import { compile } from '../../src/compiler/compile.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { ERROR_CODES, ERROR_FIELDS } from '../../src/schema/errors.ts';
import { REQUEST_HEADERS } from '../../src/server/http/transport.ts';
import { ROOT } from '../architecture/source-files.ts';

const page = readFileSync(join(ROOT, 'docs/migrating-from-baml.md'), 'utf8');
const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);

/** Variables that svc does not declare as settings: of BAML, of terminals, and of examples. */
const OTHER_VARIABLES = ['BAML_LOG_JSON', 'BAML_LOG_MAX_MESSAGE_LENGTH', 'BAML_LOG_COLOR_MODE', 'BOUNDARY_API_KEY'];
const OTHER_COMMANDS = ['serve', 'check', 'fmt', 'init', 'dev', 'generate', 'test', 'lsp', 'optimize'];
/** Headers of answers; `respond` and the handlers write them. */
const ANSWER_HEADERS = ['client', 'model', 'attempts', 'input-tokens', 'output-tokens', 'lossy'].map((name) => `x-svc-${name}`);

/** Returns everything on the page that a pattern finds, without repetitions. */
function found(pattern: RegExp): readonly string[] {
  return [...new Set([...page.matchAll(pattern)].map(([, name]) => name ?? ''))];
}

/** Returns everything that a pattern finds on the page and the program does not know. */
function unknown(pattern: RegExp, known: Iterable<string>): readonly string[] {
  const names = new Set(known);
  return found(pattern).filter((name) => !names.has(name));
}

async function help(...args: readonly string[]): Promise<string> {
  let text = '';
  const stream = { colour: false, write: (part: string) => void (text += part) };
  const terminal = { out: stream, error: stream };
  await runProgram([...args, '--help'], { terminal, compileThread: new URL('file:///help-compiles-nothing') });
  return text;
}

test('every command of svc on the page exists, and every command of BAML is one that was observed', async () => {
  const commands = found(/`svc ([a-z]+)/gu);
  const known = await help();
  expect(commands.length).toBeGreaterThan(4);
  expect(commands.filter((name) => !known.includes(`\n  ${name} `))).toEqual([]);
  expect(found(/`baml-cli ([a-z]+)/gu).toSorted()).toEqual(OTHER_COMMANDS.toSorted());
});

test('every flag on the page exists', async () => {
  const pages = await Promise.all(['serve', 'check', 'fmt', 'init', 'test', 'openapi'].map((name) => help(name)));
  const flags = found(/(--[a-z][a-z-]+)/gu);
  expect(flags.length).toBeGreaterThan(15);
  expect(flags.filter((flag) => !new RegExp(`${flag}\\b`, 'u').test(pages.join('\n')))).toEqual([]);
});

test('every variable on the page exists', () => {
  const known = settings.flatMap(({ variable, bamlVariable }) => [variable, bamlVariable ?? variable]);
  expect(unknown(/\b((?:SVC|BAML|BOUNDARY)_[A-Z_]+)\b/gu, known).toSorted()).toEqual(OTHER_VARIABLES.toSorted());
  for (const name of known.filter((one) => one.startsWith('BAML_'))) expect(page).toContain(`\`${name}\``);
});

test('the defaults on the page are those of the settings', () => {
  const stated = [...page.matchAll(/`(--[a-z-]+)`[,\s]\s*\(?(\w+) by default/gu)];
  expect(stated.length).toBeGreaterThan(3);
  for (const [, flag, value] of stated) {
    const setting = settings.find((one) => one.flag?.startsWith(`${flag ?? ''} `) === true);
    expect([flag, setting?.default]).toEqual([flag, value]);
  }
});

const ENDPOINT = /`(\/[a-z_./]+)`/gu;

test('every endpoint on the page exists', () => {
  const source = new SourceFile('a.svc', 'function F() -> string {\n  client "openai/gpt-4o"\n  prompt #"hi"#\n}\n');
  const options = { version: '0.1.0', versionCheck: false, beta: true, apiKey: true };
  const paths = Object.keys(compile([source], options).program?.openapi['paths'] ?? {});
  const known = [...paths.map((path) => path.replace('/F', '')), '/docs', '/openapi.json'];
  expect(found(ENDPOINT).length).toBeGreaterThan(8);
  expect(unknown(ENDPOINT, known)).toEqual([]);
});

test('every header on the page exists', () => {
  expect(unknown(/`(x-[a-z-]+|authorization)/gu, [...REQUEST_HEADERS, ...ANSWER_HEADERS])).toEqual([]);
});

test('every quoted code and field on the page exists', () => {
  const streams = ['partial_result', 'final_result', 'reset'];
  const others = ['documentation_url', 'type_builder', 'base_url', 'retry_policy', 'on_invalid_reply', 'baml_src', 'svc_src'];
  const known = [...ERROR_CODES, ...Object.keys(ERROR_FIELDS), ...OPTIONS_KEYS, ...streams, ...others, 'request_id'];
  expect(unknown(/`([a-z]+(?:_[a-z]+)+)`/gu, known)).toEqual([]);
});

test('svc accepts every name of the options on the page', () => {
  expect(unknown(/`(\w*(?:svc|baml)_options\w*)`/gu, OPTIONS_KEYS)).toEqual([]);
  expect(page).toContain('`__baml_options__`');
});
