import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copySamples, inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

/** A function that names a class which is not there. */
const BROKEN = `function Broken(text: string) -> Rezume {
  client Offline
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
`;

test('the samples have no problem at all', async () => {
  copySamples();
  expect(await svc('check')).toEqual({ code: 0, out: '5 files, 6 functions, 6 clients: no problems\n', error: '' });
});

test('an error is reported on stdout with its place, and the exit code is 1', async () => {
  copySamples();
  writeFileSync('svc_src/zz.svc', BROKEN);
  const { code, out, error } = await svc('check');
  expect({ code, error }).toEqual({ code: 1, error: '' });
  expect(out).toContain('svc_src/zz.svc:1:34');
  expect(out).toContain('Rezume');
  expect(out).toContain('"Resume"');
  expect(out.trimEnd().split('\n').at(-1)).toBe('6 files: 1 error');
});

test.each(['json', 'github', 'sarif'])('format %s has the same error', async (format) => {
  copySamples();
  writeFileSync('svc_src/zz.svc', BROKEN);
  const { code, out } = await svc('check', '--format', format);
  expect(code).toBe(1);
  expect(out).toContain('svc_src/zz.svc');
  expect(out).toContain('Rezume');
});

test.each(['json', 'sarif'])('format %s is JSON, also when there is nothing to report', async (format) => {
  copySamples();
  const { code, out } = await svc('check', '--format', format);
  expect(code).toBe(0);
  expect(() => JSON.parse(out)).not.toThrow();
});

test('a warning alone is no reason to fail', async () => {
  copySamples();
  appendFileSync(
    'svc_src/resume.svc',
    'function Deaf(unused: string) -> string {\n  client Offline\n  prompt #"Hello"#\n}\n',
  );
  const { code, out } = await svc('check');
  expect(code).toBe(0);
  expect(out).toContain('warning');
  expect(out).toContain('unused');
});

test('a directory that is missing, empty or a file is one line and exit code 1', async () => {
  mkdirSync('empty');
  writeFileSync('file', '');
  for (const from of ['missing', 'empty', 'file']) {
    const { code, out, error } = await svc('check', '--from', from);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toMatch(/^svc: [^\n]+\n$/u);
    expect(error).toContain(`"${from}"`);
  }
});
