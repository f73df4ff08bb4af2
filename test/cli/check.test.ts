import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copySamples, inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

/** A function that returns a class that does not exist. */
const BROKEN = `function Broken(text: string) -> Rezume {
  client Offline
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
`;

test('check reports an error with its position on stdout and ends with 1', async () => {
  copySamples();
  writeFileSync('svc_src/zz.svc', BROKEN);
  const { code, out, error } = await svc('check');
  expect({ code, error }).toEqual({ code: 1, error: '' });
  expect(out).toContain('svc_src/zz.svc:1:34');
  expect(out).toContain('Rezume');
  expect(out).toContain('"Resume"');
  expect(out.trimEnd().split('\n').at(-1)).toBe('7 files: 1 error');
});

test.each(['json', 'github', 'sarif'])('format %s reports the same error', async (format) => {
  copySamples();
  writeFileSync('svc_src/zz.svc', BROKEN);
  const { code, out } = await svc('check', '--format', format);
  expect(code).toBe(1);
  expect(out).toContain('svc_src/zz.svc');
  expect(out).toContain('Rezume');
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

test.each([
  ['missing', 'svc: "missing" does not exist'],
  ['emtpy', 'svc: "emtpy" does not exist. Did you mean "empty"?'],
  [
    'empty',
    'svc: no definition files (*.svc, *.baml) under "empty": pass the directory that contains them, or write a first function with "svc init"',
  ],
  ['notes.txt', 'svc: "notes.txt" is not a definition file (*.svc, *.baml)'],
])('for the argument %s, check writes one line and ends with 1', async (from, line) => {
  mkdirSync('empty');
  writeFileSync('notes.txt', '');
  const expected = { code: 1, out: '', error: `${line}\n` };
  expect(await svc('check', from)).toEqual(expected);
  expect(await svc('check', '--from', from)).toEqual(expected);
});

test('check reads a directory or a single file that is passed as the argument', async () => {
  copySamples();
  renameSync('svc_src', 'samples');
  expect(await svc('check', 'samples')).toMatchObject({ code: 0, out: expect.stringContaining('6 files') });
  expect(await svc('check', './samples/')).toMatchObject({ code: 0, out: expect.stringContaining('6 files') });
  writeFileSync('alone.baml', 'class A {\n  b Missing\n}\n');
  expect(await svc('check', 'alone.baml')).toMatchObject({ code: 1, out: expect.stringContaining('alone.baml:2:5') });
});

test('without an argument, check reads ./svc_src, or ./baml_src if that does not exist', async () => {
  mkdirSync('baml_src');
  writeFileSync('baml_src/a.baml', 'class A {\n  b Missing\n}\n');
  expect((await svc('check')).out).toContain('baml_src/a.baml:2:5');
  copySamples();
  expect((await svc('check')).out).toContain('6 files');
  expect((await svc('check', 'baml_src')).out).toContain('baml_src/a.baml:2:5');
});

test.each(['check', 'serve', 'openapi', 'fmt'])(
  'if neither exists, %s names both and states what to do',
  async (name) => {
    const { code, out, error } = await svc(name);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toBe(
      `svc: found no definitions: neither "./svc_src" nor "./baml_src" exists in "${process.cwd()}". ` +
        'Pass the directory of your definitions as an argument, or run "svc init" to write a first function.\n',
    );
  },
);

test.each(['check', 'serve', 'dev', 'test'])(
  'if the definitions are beside it, %s states how to read them',
  async (name) => {
    writeFileSync('mine.svc', '');
    const { error } = await svc(name);
    expect(error).toContain('To read "mine.svc" and the files next to it, pass "." as an argument.\n');
  },
);

test('the argument overrides SVC_FROM in .env, which overrides the default', async () => {
  copySamples();
  writeFileSync('.env', 'SVC_FROM=from_env\n');
  expect((await svc('check')).error).toContain('"from_env"');
  expect((await svc('check', 'given')).error).toContain('"given"');
});
