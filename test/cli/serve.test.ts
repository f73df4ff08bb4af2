import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copySamples, inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

/** Runs `use` with the number of a port that is taken. */
async function withTakenPort(use: (port: string) => Promise<void>): Promise<void> {
  const server = createServer();
  await once(server.listen(0, '0.0.0.0'), 'listening');
  await use(String((server.address() as AddressInfo).port));
  server.close();
}

test('serve reports the errors of all definitions and does not bind', async () => {
  copySamples();
  writeFileSync('svc_src/x.svc', 'class A {\n  b Missing\n}\n');
  writeFileSync('svc_src/y.svc', 'class C {\n  d Absent\n}\n');
  await withTakenPort(async (port) => {
    const { code, out, error } = await svc('serve', '--port', port);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toContain('svc_src/x.svc:2:5');
    expect(error).toContain('svc_src/y.svc:2:5');
    expect(error).toContain('  b Missing\n');
    expect(error.trimEnd().split('\n').at(-1)).toBe('svc: not started. 8 files: 2 errors');
    expect(error).not.toContain('bind');
  });
});

test('serve reports a taken port with its number and the reason, after the definitions', async () => {
  copySamples();
  await withTakenPort(async (port) => {
    const { code, error } = await svc('serve', '--port', port);
    expect(code).toBe(1);
    expect(error).toMatch(
      new RegExp(`^svc: Failed to bind to port ${port}: [^\\n]*another (?:program|svc process) [^\\n]*\\n$`, 'u'),
    );
  });
});

test('a generator that requires another version prevents the start, unless the check is off', async () => {
  copySamples();
  const generator = 'generator g {\n  output_type "typescript"\n  output_dir ".."\n  version "99.1.0"\n}\n';
  writeFileSync('svc_src/generator.svc', generator);
  await withTakenPort(async (port) => {
    const checked = await svc('serve', '--port', port);
    expect(checked.code).toBe(1);
    expect(checked.error).toContain('svc_src/generator.svc:4:11');
    expect(checked.error).toContain('99.1.0');
    const unchecked = await svc('serve', '--port', port, '--no-version-check');
    expect(unchecked.error).toContain('Failed to bind');
  });
});

test('for a missing directory, serve writes one line', async () => {
  const { code, error } = await svc('serve', '--port', '0');
  expect(code).toBe(1);
  expect(error).toMatch(/^svc: [^\n]*svc_src[^\n]*\n$/u);
});

test('a missing --dotenv-path file ends with 1, a bad value with 2', async () => {
  copySamples();
  const missing = await svc('serve', '--dotenv-path', 'missing.env');
  expect(missing).toMatchObject({ code: 1, out: '' });
  expect(missing.error).toContain('missing.env');
  writeFileSync('bad.env', 'SVC_WORKERS=none\n');
  const { code, error } = await svc('serve', '--dotenv-path', 'bad.env');
  expect(code).toBe(2);
  expect(error).toBe('svc: SVC_WORKERS in bad.env is "none", but must be a whole number from 1 to 256\n');
});

test.each(['--prices', '--keys'])('serve exits with code 2 if the file of %s is missing', async (flag) => {
  copySamples();
  const { code, error, out } = await svc('serve', '--port', '0', flag, 'missing.yaml');
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(error).toBe('svc: "missing.yaml" cannot be read: it does not exist. Pass an existing file.\n');
});

/** Definitions with as many warnings as functions. */
function writeWarnings(count: number): void {
  mkdirSync('svc_src');
  const functions = Array.from({ length: count }, (_, index) => {
    return `function F${String(index)}(unused: string) -> string {\n  client Offline\n  prompt #"Hello"#\n}\n`;
  });
  writeFileSync('svc_src/a.svc', `client<llm> Offline {\n  provider offline\n}\n${functions.join('')}`);
}

test('warnings do not prevent the start; serve shows the first five and the number of the others', async () => {
  writeWarnings(8);
  await withTakenPort(async (port) => {
    const { error } = await svc('serve', '--port', port);
    expect(error.match(/^warning /gmu)).toHaveLength(5);
    expect(error).toContain('\n3 more warnings: to see them, use "svc check" or "--features display_all_warnings"\n');
    expect(error).toContain('Failed to bind');
  });
});

test('display_all_warnings shows every warning', async () => {
  writeWarnings(8);
  await withTakenPort(async (port) => {
    const { error } = await svc('serve', '--port', port, '--features', 'beta', 'display_all_warnings');
    expect(error.match(/^warning /gmu)).toHaveLength(8);
    expect(error).not.toContain('more warnings');
  });
});
