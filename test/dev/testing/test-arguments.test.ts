import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compile } from '../../../src/compiler/compile.ts';
import { testArguments } from '../../../src/dev/testing/test-arguments.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-arguments-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'svc_src'));
writeFileSync(join(folder, 'photo.png'), 'png');
writeFileSync(join(folder, 'svc_src/scan'), '%PDF-1.7');
writeFileSync(join(folder, 'svc_src/noise'), 'abc');

const DEFINITIONS = `
class Page {
  scan pdf
  title string
}
class Attachment {
  file string
}
type Pages = Page | Pages[]
function Read(photo: image, pages: Page[]?, named: map<string, image>?, either: Attachment | image?, nested: Pages?, text: string?, count: int?) -> string {
  client "openai/gpt-4o"
  prompt #"{{ photo }}{{ pages }}{{ named }}{{ either }}{{ nested }}{{ text }}{{ count }}"#
}
`;

function argumentsOf(args: string, env: Readonly<Record<string, string>> = {}) {
  const text = `${DEFINITIONS}test T {\n  functions [Read]\n  args {\n    ${args}\n  }\n}\n`;
  const path = join(folder, 'svc_src/main.svc');
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { program, tests, diagnostics } = compile([new SourceFile(path, text)], options);
  const [fn] = program?.functions ?? [];
  if (program === undefined || fn === undefined || tests[0] === undefined) throw new Error(JSON.stringify(diagnostics));
  const files: string[] = [];
  const sources = { definitions: indexDefinitions(program), env, onFile: (file: string) => void files.push(file) };
  return { result: testArguments(tests[0], fn, sources), files };
}

const PNG = { base64: Buffer.from('png').toString('base64'), media_type: 'image/png' };
const PDF = { base64: Buffer.from('%PDF-1.7').toString('base64'), media_type: 'application/pdf' };

test.each([
  ['photo { file "../photo.png" }', { photo: PNG }],
  ['photo { file "../photo.png", media_type "image/webp" }', { photo: { ...PNG, media_type: 'image/webp' } }],
  ['photo { url "https://example.com/a.png" }', { photo: { url: 'https://example.com/a.png' } }],
  ['pages [{ scan { file "scan" }, title "a" }]', { pages: [{ scan: PDF, title: 'a' }] }],
  ['named { a { file "../photo.png" } }', { named: { a: PNG } }],
  ['nested [[{ scan { file "scan" }, title "a" }]]', { nested: [[{ scan: PDF, title: 'a' }]] }],
  // A class with a field of that name decides.
  ['either { file "../photo.png" }', { either: { file: '../photo.png' } }],
  ['text "a"\n    count -3', { text: 'a', count: -3 }],
  ['text #"\n      two\n      lines\n    "#', { text: 'two\nlines' }],
  ['text null', { text: null }],
  ['unknown { file "x" }', { unknown: { file: 'x' } }],
])('%s', (args, expected) => {
  expect(argumentsOf(args).result).toEqual({ ok: true, value: expected });
});

test('variables have the values of the environment, also inside lists and maps', () => {
  expect(argumentsOf('text env.TEXT', { TEXT: 'hello' }).result).toEqual({ ok: true, value: { text: 'hello' } });
  expect(argumentsOf('named { a { url env.URL } }', { URL: 'https://a' }).result).toEqual({
    ok: true,
    value: { named: { a: { url: 'https://a' } } },
  });
});

test.each([
  ['text env.TEXT', 'the arguments read env.TEXT, but TEXT is not set. Set it, or add it to .env'],
  ['text env.constructor', 'the arguments read env.constructor, but constructor is not set. Set it, or add it to .env'],
  ['photo { file "gone.png" }', `the file "gone.png" does not exist: svc looked for "${folder}/svc_src/gone.png"`],
  ['photo { file "." }', 'the file "." cannot be read: EISDIR: illegal operation on a directory, read'],
  ['photo { file "noise" }', 'the type of the file "noise" is unknown. Add its "media_type", such as "image/png"'],
])('%s fails', (args, failure) => {
  expect(argumentsOf(args).result).toEqual({ ok: false, failure });
});

test('the files that arguments name are reported, even if they do not exist', () => {
  expect(argumentsOf('photo { file "../photo.png" }\n    pages [{ scan { file "gone.pdf" } }]').files).toEqual([
    join(folder, 'photo.png'),
    join(folder, 'svc_src/gone.pdf'),
  ]);
});
