import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSvc, startServer, type RunningServer } from '../support/running-server.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const DEFINITIONS = `${FOLDER}definitions`;
const SAMPLES = fileURLToPath(new URL('../../svc_src', import.meta.url));
const KEY = 'the-password-of-this-test';
const TOOL_TIMEOUT_MS = 120_000;

const run = promisify(execFile);
let server: RunningServer;

// `npm ci` in this folder installs the generators and their TypeScript 5; their output goes to `generated/`.
beforeAll(async () => {
  rmSync(`${FOLDER}generated`, { recursive: true, force: true });
  mkdirSync(`${FOLDER}generated`);
  server = await startServer({ from: DEFINITIONS, env: { SVC_PASSWORD: KEY } });
  const document = await fetch(`${server.url}/openapi.json`, { headers: { 'x-svc-api-key': KEY } });
  writeFileSync(`${FOLDER}generated/openapi.json`, await document.text());
  await tool('openapi-typescript', 'generated/openapi.json', '--output', 'generated/openapi-typescript.ts');
  await tool('openapi-ts', '--file', 'hey-api.config.mjs');
  await tool('tsc');
}, TOOL_TIMEOUT_MS);

afterAll(async () => {
  await server.stop();
});

/** Runs a program that is installed in this folder; if it fails, the message of the error is its output. */
async function tool(name: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], REDOCLY_TELEMETRY: 'off', CI: '1' };
  const options = { cwd: FOLDER, env: { ...env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }, timeout: TOOL_TIMEOUT_MS };
  try {
    const { stdout, stderr } = await run(`${FOLDER}node_modules/.bin/${name}`, args, options);
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${name} ${args.join(' ')}\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}

/** Runs a compiled client against the server; resolves to the names of the steps that succeeded. */
async function stepsOf(client: string): Promise<readonly string[]> {
  const { stdout } = await run(process.execPath, [`${FOLDER}generated/dist/clients/${client}.mjs`, server.url, KEY]);
  return stdout.trimEnd().split('\n');
}

test('a client of openapi-typescript and openapi-fetch compiles strictly and works', async () => {
  expect(await stepsOf('with-openapi-fetch')).toHaveLength(14);
});

test('a client of @hey-api/openapi-ts compiles strictly and works', async () => {
  expect(await stepsOf('with-hey-api')).toHaveLength(12);
});

test.each([
  ['every kind of type', DEFINITIONS],
  ['the samples', SAMPLES],
])('Redocly finds no error in the document of %s', async (_, from) => {
  const { code, stdout } = await runSvc(['openapi', '--from', from]);
  expect(code).toBe(0);
  writeFileSync(`${FOLDER}generated/linted.json`, stdout);
  const report = await tool('redocly', 'lint', 'generated/linted.json', '--format', 'json');
  const json = report.slice(report.indexOf('{'), report.lastIndexOf('}') + 1);
  const { totals } = JSON.parse(json) as { readonly totals: { readonly errors: number; readonly warnings: number } };
  expect(totals).toMatchObject({ errors: 0, warnings: 1 });
});

test('the server serves the document that the command prints', async () => {
  const served = await fetch(`${server.url}/openapi.json`, { headers: { 'x-svc-api-key': KEY } });
  const { stdout } = await runSvc(['openapi', '--from', DEFINITIONS], { SVC_PASSWORD: KEY });
  expect(JSON.parse(stdout)).toEqual(await served.json());
});
