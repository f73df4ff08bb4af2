import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { writeFixed } from '../../src/cli/fix-definitions.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
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

/** Misspelt names of a type, a client, a filter and an attribute, and a type that resembles no other. */
const MISSPELT = `class Person {
  name string @descripton("the name")
  home Adress
}
class Address {
  street string
}
function Find(text: string) -> Persn {
  client Ofline
  prompt #"{{ text|uper }} {{ ctx.output_format }}"#
}
client<llm> Offline {
  provider offline
}
`;

/** Its only problem is the type "Zebra". */
const UNFIXABLE = 'class Zoo {\n  star Zebra\n}\n';

function writeDefinitions(files: Readonly<Record<string, string>>): void {
  mkdirSync('svc_src', { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(`svc_src/${name}`, text);
}

const CORRECT = MISSPELT.replace('@descripton', '@description')
  .replace('Adress', 'Address')
  .replace('Persn', 'Person')
  .replace('Ofline', 'Offline')
  .replace('|uper', '|upper');

test('check --fix replaces misspelt names, prints each change, and reports the rest', async () => {
  writeDefinitions({ 'a.svc': MISSPELT, 'zoo.svc': UNFIXABLE });
  const { code, out, error } = await svc('check', '--fix');
  expect({ code, error }).toEqual({ code: 1, error: '' });
  expect(out.split('\n').slice(0, 5)).toEqual([
    'fixed: svc_src/a.svc:2 "@descripton" -> "@description"',
    'fixed: svc_src/a.svc:3 "Adress" -> "Address"',
    'fixed: svc_src/a.svc:8 "Persn" -> "Person"',
    'fixed: svc_src/a.svc:9 "Ofline" -> "Offline"',
    'fixed: svc_src/a.svc:10 "uper" -> "upper"',
  ]);
  expect(out).toContain('There is no type "Zebra".');
  expect(out).toContain('2 files: 1 error\n');
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe(CORRECT);
  expect(readFileSync('svc_src/zoo.svc', 'utf8')).toBe(UNFIXABLE);
});

test('with a format for programs, the changes of check --fix go to standard error', async () => {
  writeDefinitions({ 'a.svc': MISSPELT });
  const { code, out, error } = await svc('check', '--fix', '--format', 'json');
  expect({ code, report: JSON.parse(out) }).toEqual({ code: 0, report: { errors: 0, warnings: 0, diagnostics: [] } });
  expect(error).toContain('fixed: svc_src/a.svc:8 "Persn" -> "Person"\n');
});

test('check --fix leaves a name whose replacement causes another problem', async () => {
  // The only similar name is a class, whose own field it would repeat in a cycle without an end.
  const text = 'class Node {\n  next Nod\n}\n';
  writeDefinitions({ 'a.svc': text });
  const { code, out } = await svc('check', '--fix');
  expect(code).toBe(1);
  expect(out).not.toContain('fixed:');
  expect(out).toContain('Did you mean "Node"?');
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe(text);
});

test('check --fix corrects a name together with those that it makes known', async () => {
  const text = `class Person {
  name string
}
function Greet(a: Persn, b: Persn) -> string {
  client "openai/gpt-4o"
  prompt #"{{ a.nmae }} {{ b.nam }}"#
}
`;
  writeDefinitions({ 'a.svc': text });
  expect(await svc('check', '--fix')).toMatchObject({ code: 0 });
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe(
    text.replaceAll('Persn', 'Person').replaceAll(/nmae|nam\b/gu, 'name'),
  );
});

test('check --fix applies the safe fixes beside those that are not', async () => {
  writeDefinitions({ 'a.svc': `class Node {\n  next Nod\n}\n${MISSPELT}` });
  const { out } = await svc('check', '--fix');
  expect([...out.matchAll(/^fixed: svc_src\/a\.svc:(\d+)/gmu)].map(([, line]) => line)).toEqual([
    '5',
    '6',
    '11',
    '12',
    '13',
  ]);
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe(`class Node {\n  next Nod\n}\n${CORRECT}`);
});

const GRAPH = `class GraphNode {
  id strin
}
calss GraphEdge {
  from GraphNod
}
class Graph {
  edges GraphEdge[]
}
`;

test('check --fix corrects a misspelt keyword before names, which can mean its definition', async () => {
  writeDefinitions({ 'a.svc': GRAPH });
  expect(await svc('check', '--fix')).toMatchObject({ code: 0 });
  const fixed = GRAPH.replace('strin', 'string').replace('calss', 'class').replace('GraphNod\n', 'GraphNode\n');
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe(fixed);
});

test('check --fix replaces no name while a syntax error can hide a definition', async () => {
  const text = GRAPH.replace('calss GraphEdge', 'struct GraphEdge');
  writeDefinitions({ 'a.svc': text });
  const { code, out } = await svc('check', '--fix');
  expect({ code, fixed: out.includes('fixed:') }).toEqual({ code: 1, fixed: false });
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe(text);
});

test('check --fix keeps a byte order mark, the permissions and a link', async () => {
  writeDefinitions({});
  writeFileSync('real.svc', `\uFEFF${MISSPELT}`);
  chmodSync('real.svc', 0o600);
  symlinkSync('../real.svc', 'svc_src/a.svc');
  expect(await svc('check', '--fix')).toMatchObject({ code: 0 });
  expect(readFileSync('real.svc', 'utf8')).toBe(`\uFEFF${CORRECT}`);
  expect(statSync('real.svc').mode & 0o777).toBe(0o600);
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe(`\uFEFF${CORRECT}`);
});

test('if a file changes meanwhile, check --fix writes no file', () => {
  writeDefinitions({ 'a.svc': 'old a', 'b.svc': 'newer b' });
  const [a, b] = [new SourceFile('svc_src/a.svc', 'old a'), new SourceFile('svc_src/b.svc', 'old b')];
  const fixed = [a, b].map(({ path }) => new SourceFile(path, 'fixed'));
  expect(writeFixed([a, b], fixed)).toEqual({
    ok: false,
    failure: '"svc_src/b.svc" changed while svc checked it, so svc fixed no file. Run the command again',
  });
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe('old a');
  expect(readFileSync('svc_src/b.svc', 'utf8')).toBe('newer b');
});

test('if a file cannot be written, check --fix reports it and loses nothing', async () => {
  writeDefinitions({ 'a.svc': MISSPELT });
  // The name of the unfinished file is taken by a directory.
  mkdirSync(`svc_src/a.svc.${process.pid}.tmp`);
  const { code, error } = await svc('check', '--fix');
  expect(code).toBe(1);
  expect(error).toMatch(/^svc: "svc_src\/a\.svc" cannot be written: .+\n$/u);
  expect(readFileSync('svc_src/a.svc', 'utf8')).toBe(MISSPELT);
});

/** Two warnings. */
const DEAF = 'function Deaf(a: string, b: string) -> string {\n  client "openai/m"\n  prompt #"Hello"#\n}\n';

test.each([
  [[], 0, ''],
  [['--max-warnings', '2'], 0, ''],
  [['--max-warnings', '1'], 1, 'svc: found 2 warnings, but --max-warnings allows 1\n'],
  [['--max-warnings', '0'], 1, 'svc: found 2 warnings, but --max-warnings allows 0\n'],
  [['--strict'], 1, 'svc: found 2 warnings, but --strict allows none\n'],
] as const)('for two warnings, check %j ends with %i', async (flags, code, error) => {
  writeDefinitions({ 'a.svc': DEAF });
  expect(await svc('check', ...flags)).toMatchObject({ code, error });
  expect(await svc('check', '--format', 'sarif', ...flags)).toMatchObject({ code, error });
});

test('check --strict ends with 0 if there are no warnings, and excludes --max-warnings', async () => {
  writeDefinitions({ 'a.svc': CORRECT });
  expect(await svc('check', '--strict')).toMatchObject({ code: 0, error: '' });
  expect(await svc('check', '--strict', '--max-warnings', '1')).toMatchObject({ code: 2 });
  expect(await svc('check', '--max-warnings', 'few')).toMatchObject({ code: 2 });
});
