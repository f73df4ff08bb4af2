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

test.each([
  ['--prices missing.yaml', 2, 'svc: "missing.yaml" cannot be read: it does not exist. Pass an existing file.'],
  ['--keys missing.yaml', 2, 'svc: "missing.yaml" cannot be read: it does not exist. Pass an existing file.'],
  ['--prices bad.yaml', 2, 'entry 1 ("a"): has no "input"'],
  ['--keys bad.yaml', 2, 'svc: "bad.yaml"'],
  ['--dotenv-path missing.env', 1, 'missing.env'],
  ['--dotenv-path bad.env', 2, 'svc: SVC_WORKERS in bad.env is "none", but must be a whole number from 1 to 256\n'],
])('with %s, serve exits with %i and states the reason', async (flags, code, reason) => {
  copySamples();
  writeFileSync('bad.yaml', '- model: a\n');
  writeFileSync('bad.env', 'SVC_WORKERS=none\n');
  const ended = await svc('serve', '--port', '0', ...flags.split(' '));
  expect(ended).toMatchObject({ code, out: '' });
  expect(ended.error).toContain(reason);
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
    const every = await svc('serve', '--port', port, '--features', 'beta', 'display_all_warnings');
    expect(every.error.match(/^warning /gmu)).toHaveLength(8);
    expect(every.error).not.toContain('more warnings');
  });
});
