import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadFunctions } from '../../src/index.ts';
import { ROOT } from '../architecture/source-files.ts';
import { readPrices } from '../../src/config/read-prices.ts';
import { inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

/** The first function, which needs no option, and the templates. */
const TEMPLATES = ['contact', 'resume', 'chat', 'classify', 'agent', 'rag'];

async function init(template: string, ...args: readonly string[]): ReturnType<typeof svc> {
  return svc('init', ...(template === 'contact' ? [] : ['--template', template]), ...args);
}

/** The function that the printed command calls, and the body that it sends. */
function printedCall(out: string): { readonly name: string; readonly body: Record<string, unknown> } {
  const [, name = '', body = ''] =
    /^ {2}curl -sN http:\/\/localhost:2024\/stream\/(\w+) -H 'content-type: application\/json' -d '(.*)'$/mu.exec(
      out,
    ) ?? [];
  return { name, body: JSON.parse(body.replaceAll(String.raw`'\''`, "'")) };
}

test('init writes one definition file that fits on a screen, a .env.example, a .gitignore and prices', async () => {
  const { code, out, error } = await svc('init');
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out).toContain(
    'wrote svc_src/contact.svc\nwrote .env.example\nwrote .gitignore\nwrote prices.yaml\n\nNext:\n',
  );
  expect(readdirSync('.')).toEqual(['.env.example', '.gitignore', 'prices.yaml', 'svc_src']);
  expect(readdirSync('svc_src')).toEqual(['contact.svc']);
  expect(readFileSync('svc_src/contact.svc', 'utf8').split('\n').length).toBeLessThanOrEqual(50);
  expect(readFileSync('.gitignore', 'utf8').split('\n')).toContain('.env');
  const steps = out.slice(out.indexOf('Next:\n')).trimEnd().split('\n').slice(1);
  expect(steps).toEqual(['  edit svc_src/contact.svc', '  svc dev', expect.stringContaining('  curl -sN http://')]);
});

test('the prices that init writes are read without a fault, and state their date', async () => {
  await svc('init');
  expect(readFileSync('prices.yaml', 'utf8')).toMatch(/^# .*2026-11.*check/u);
  const read = readPrices('prices.yaml');
  expect(read.ok && read.value.length).toBeGreaterThanOrEqual(4);
});

test('every file in templates/ is one that init can write, and the help lists it', async () => {
  const names = [...TEMPLATES.map((name) => `${name}.svc`), 'prices.yaml'];
  expect(readdirSync(join(ROOT, 'templates'))).toEqual(names.toSorted());
  const { out } = await svc('init', '--help');
  expect(out.replaceAll(/\s+/gu, ' ')).toContain(`${TEMPLATES.slice(1).join(', ')} `);
});

test.each(TEMPLATES)('%s has no problems, is formatted, passes its tests, and answers its example', async (name) => {
  const { code, out } = await init(name);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`wrote svc_src/${name}.svc\n`) });
  expect(await svc('check')).toMatchObject({ code: 0, out: expect.stringContaining('1 file, 1 function, ') });
  expect((await svc('check')).out).toContain('no problems');
  expect(await svc('fmt', '--check')).toEqual({ code: 0, out: '', error: '' });
  const tested = await svc('test');
  expect(tested.code, tested.out).toBe(0);
  expect(tested.out).toMatch(/\n[1-9] tests?: [1-9] passed, 0 failed/u);
  expect(tested.out).not.toContain('without a test');
  const printed = printedCall(out);
  const functions = loadFunctions({ from: './svc_src', env: {} });
  const value = await functions.call(printed.name, printed.body);
  let partials = 0;
  let final: unknown;
  for await (const event of functions.stream(printed.name, printed.body)) {
    if (event.type === 'partial') partials += 1;
    if (event.type === 'final') final = event.value;
  }
  await functions.close();
  expect(partials).toBeGreaterThanOrEqual(5);
  expect(final).toEqual(value);
});

test.each(TEMPLATES)('without a key, the real client of %s reports the variable that is missing', async (name) => {
  const { out } = await init(name);
  const text = readFileSync(`svc_src/${name}.svc`, 'utf8');
  const [, client = ''] = /\/\/ With OPENAI_API_KEY in \.env, write: client "?([\w/.-]+)"?$/mu.exec(text) ?? [];
  const { name: called, body } = printedCall(out);
  const functions = loadFunctions({ from: './svc_src', env: {} });
  await expect(functions.call(called, body, { client })).rejects.toMatchObject({
    code: 'missing_credential',
    message: expect.stringContaining('OPENAI_API_KEY'),
  });
  await functions.close();
});

test('an example can be added to definitions, and all examples together have no problems', async () => {
  for (const name of TEMPLATES) expect(await init(name)).toMatchObject({ code: 0 });
  expect(readdirSync('svc_src')).toEqual(readdirSync(join(ROOT, 'templates')).filter((name) => name.endsWith('.svc')));
  expect((await svc('check')).out).toMatch(/^6 files, 6 functions, \d+ clients: no problems\n$/u);
});

test('with a name, init writes a project in which svc dev needs no argument, and nothing outside of it', async () => {
  const { code, out, error } = await svc('init', 'shop');
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out).toContain(
    'wrote shop/svc_src/contact.svc\nwrote shop/.env.example\nwrote shop/.gitignore\nwrote shop/prices.yaml\n',
  );
  expect(out).toContain('\nNext:\n  cd shop\n  edit svc_src/contact.svc\n  svc dev\n  curl -sN http://');
  expect(readdirSync('.')).toEqual(['shop']);
  expect(readdirSync('shop')).toEqual(['.env.example', '.gitignore', 'prices.yaml', 'svc_src']);
  process.chdir('shop');
  expect((await svc('check')).out).toContain('1 file, 1 function, ');
});

test('--from names another directory for the definitions, and init shows how to serve it', async () => {
  const { out } = await svc('init', '--from', 'definitions');
  expect(out).toContain('\n  edit definitions/contact.svc\n  svc dev definitions\n');
  expect(readdirSync('.')).toEqual(['.env.example', '.gitignore', 'definitions', 'prices.yaml']);
  const both = await svc('init', 'shop', '--from', 'definitions');
  const error = 'svc: "shop" is the folder of a project, which has its own definitions: leave out --from\n';
  expect(both).toEqual({ code: 2, out: '', error });
});

test('init takes the name of a directory of definitions for that directory, and "." for the current folder', async () => {
  expect((await svc('init', 'shop/svc_src')).out).toContain('wrote shop/svc_src/contact.svc\n');
  expect((await svc('init', '--template', 'chat', 'shop')).out).toContain('wrote shop/svc_src/chat.svc\n');
  const { out } = await svc('init', '.');
  expect(out).toContain('wrote svc_src/contact.svc\nwrote .env.example\n');
  expect(out).not.toContain('cd ');
});

test('in a directory that has definition files, init writes no project', async () => {
  mkdirSync('definitions');
  writeFileSync('definitions/mine.svc', 'mine');
  const error =
    'svc: "definitions/mine.svc" is a definition file, so svc did not write "definitions/svc_src". ' +
    'To add an example beside it, pass "--from definitions" and --template.\n';
  expect(await svc('init', 'definitions')).toEqual({ code: 1, out: '', error });
  expect((await svc('init', '--from', 'definitions', '--template', 'chat')).out).toContain(
    'wrote definitions/chat.svc\n',
  );
});

test('the printed commands quote paths with spaces, and call the port that SVC_PORT sets', async () => {
  writeFileSync('.env', 'SVC_PORT=3000\n');
  const { out } = await svc('init', '--from', 'my definitions');
  expect(out).toContain("\n  edit 'my definitions/contact.svc'\n  svc dev 'my definitions'\n");
  expect(out).toContain('curl -sN http://localhost:3000/stream/ReadContact ');
  expect((await svc('init', 'my project')).out).toContain("\n  cd 'my project'\n");
});

const SERVE_IT = 'Serve it with "svc dev", or add an example with --template.';

test.each([
  ['baml_src/mine.baml', [], SERVE_IT],
  ['svc_src/contact.svc', [], SERVE_IT],
  ['svc_src/chat.svc', ['--template', 'chat'], 'Rename the file, or pass the name of a new folder.'],
  ['shop/svc_src/a.svc', ['shop'], SERVE_IT.replace('svc dev', 'svc dev shop/svc_src')],
])('if %s exists, "svc init %j" names it, writes nothing and states what to do', async (path, args, advice) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'mine');
  const error = `svc: "${path}" already exists, so svc wrote nothing. ${advice}\n`;
  expect(await svc('init', ...args)).toEqual({ code: 1, out: '', error });
  expect(readFileSync(path, 'utf8')).toBe('mine');
  expect(readdirSync('.')).toHaveLength(1);
});

test('init keeps files that are not definitions, and adds a template to ./baml_src', async () => {
  mkdirSync('baml_src');
  writeFileSync('baml_src/notes.txt', 'mine');
  writeFileSync('.env.example', 'mine');
  const { code, out } = await svc('init', '--template', 'rag');
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('kept .env.example\n') });
  expect(out).toContain('wrote baml_src/rag.svc\n');
  expect(readFileSync('.env.example', 'utf8')).toBe('mine');
});

test.each([
  ['dist\n', 'kept .gitignore: add the line ".env" to it, so that no one commits your keys\n'],
  ['.env.example\n', 'kept .gitignore: add the line ".env" to it'],
  ['dist\n.env\n', 'kept .gitignore\n'],
  ['.env*\n!.env.example\n', 'kept .gitignore\n'],
])('init keeps an existing .gitignore, and reports one that does not exclude .env (%j)', async (text, line) => {
  writeFileSync('.gitignore', text);
  const { code, out } = await svc('init');
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(line) });
  expect(readFileSync('.gitignore', 'utf8')).toBe(text);
});

test.each(['svc_src', 'new.svc'])('for %s, which names a file, init writes one line and ends with 1', async (path) => {
  writeFileSync('svc_src', '');
  expect(await svc('init', path)).toEqual({
    code: 1,
    out: '',
    error: `svc: "${path}" names a file, so svc wrote nothing. Pass the name of a folder.\n`,
  });
});

test('a system error is one line without a stack trace', async () => {
  writeFileSync('file', '');
  const { code, error } = await svc('init', '--from', 'file/below');
  expect(code).toBe(1);
  expect(error).toMatch(/^svc: [^\n]*ENOTDIR[^\n]*\n$/u);
});
