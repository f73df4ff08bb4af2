import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copySamples, inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

/** A function that returns a class that does not exist. */
const BROKEN = `function Broken(text: string) -> Rezume {
  client Offline
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
`;

test('the samples have no problems', async () => {
  copySamples();
  expect(await svc('check')).toEqual({ code: 0, out: '5 files, 6 functions, 6 clients: no problems\n', error: '' });
});

test('check reports an error with its position on stdout and ends with 1', async () => {
  copySamples();
  writeFileSync('svc_src/zz.svc', BROKEN);
  const { code, out, error } = await svc('check');
  expect({ code, error }).toEqual({ code: 1, error: '' });
  expect(out).toContain('svc_src/zz.svc:1:34');
  expect(out).toContain('Rezume');
  expect(out).toContain('"Resume"');
  expect(out.trimEnd().split('\n').at(-1)).toBe('6 files: 1 error');
});

test.each(['json', 'github', 'sarif'])('format %s reports the same error', async (format) => {
  copySamples();
  writeFileSync('svc_src/zz.svc', BROKEN);
  const { code, out } = await svc('check', '--format', format);
  expect(code).toBe(1);
  expect(out).toContain('svc_src/zz.svc');
  expect(out).toContain('Rezume');
});

test.each(['json', 'sarif'])('format %s is JSON even if there is nothing to report', async (format) => {
  copySamples();
  const { code, out } = await svc('check', '--format', format);
  expect(code).toBe(0);
  expect(() => JSON.parse(out)).not.toThrow();
});

test('check ends with 0 if there are only warnings', async () => {
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

test('for a directory that is missing, empty or a file, check writes one line and ends with 1', async () => {
  mkdirSync('empty');
  writeFileSync('file', '');
  for (const from of ['missing', 'empty', 'file']) {
    const { code, out, error } = await svc('check', '--from', from);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toMatch(/^svc: [^\n]+\n$/u);
    expect(error).toContain(`"${from}"`);
  }
});
