import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { offsetAt, pathOf, positionOf, uriOf } from '../../../src/dev/lsp/places.ts';
import { Workspace } from '../../../src/dev/lsp/workspace.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { temporaryFolder } from '../../support/running-server.ts';
import { OPTIONS } from './edited.ts';

const CLASS = 'class A {\n  b B?\n}\n';
const OTHER = 'class B {\n  c int\n}\n';

function opened(files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder(files);
  const workspace = new Workspace(OPTIONS);
  workspace.addFolder(pathToFileURL(folder).href);
  const uri = (name: string): string => pathToFileURL(join(folder, name)).href;
  /** The files of each program by their path in the folder, sorted. */
  const programs = (): Readonly<Record<string, readonly string[]>> =>
    Object.fromEntries(
      [...workspace.programs].map(({ root, paths }) => [
        root.slice(folder.length + 1),
        paths.map((path) => path.slice(folder.length + 1)).toSorted(),
      ]),
    );
  const errors = (name: string): number | undefined =>
    workspace
      .at(uri(name))
      ?.program.analysis()
      .diagnostics.filter(({ severity }) => severity === 'error').length;
  return { folder, workspace, uri, programs, errors };
}

test('each definition directory is a program, and so are the other files of the folder', () => {
  const { programs } = opened({
    'svc_src/a.svc': CLASS,
    'svc_src/deep/b.svc': OTHER,
    'svc_src/baml_src/c.baml': '',
    'examples/one/baml_src/a.baml': CLASS,
    'examples/two/svc_src/a.svc': CLASS,
    'loose.svc': OTHER,
    'notes.txt': '',
    'node_modules/x/svc_src/a.svc': OTHER,
  });
  expect(programs()).toEqual({
    '': ['loose.svc'],
    svc_src: ['svc_src/a.svc', 'svc_src/baml_src/c.baml', 'svc_src/deep/b.svc'],
    'examples/one/baml_src': ['examples/one/baml_src/a.baml'],
    'examples/two/svc_src': ['examples/two/svc_src/a.svc'],
  });
});

test('a folder inside a definition directory belongs to the whole directory', () => {
  const { folder, uri } = opened({ 'svc_src/deep/a.svc': CLASS, 'svc_src/b.svc': OTHER });
  const inner = new Workspace(OPTIONS);
  inner.addFolder(pathToFileURL(join(folder, 'svc_src/deep')).href);
  expect(inner.at(uri('svc_src/deep/a.svc'))?.program.analysis().diagnostics).toEqual([]);
});

test('a document without a folder is checked with the files next to it, and an unsaved one alone', () => {
  const { uri } = opened({ 'x/a.svc': CLASS, 'x/b.svc': OTHER, 'x/deep/c.svc': 'class A {}' });
  const workspace = new Workspace(OPTIONS);
  workspace.edit({ uri: uri('x/a.svc'), version: 1, text: CLASS });
  expect(workspace.at(uri('x/a.svc'))?.program.paths.length).toBe(2);
  workspace.edit({ uri: 'untitled:Untitled-1', version: 1, text: CLASS });
  expect(workspace.at('untitled:Untitled-1')?.program.analysis().diagnostics.length).toBe(1);
  workspace.close('untitled:Untitled-1');
  workspace.close(uri('x/a.svc'));
  expect([...workspace.programs]).toEqual([]);
});

test('the text in the editor replaces that of the file until the document is closed', () => {
  const { workspace, uri, errors } = opened({ 'svc_src/a.svc': CLASS, 'svc_src/b.svc': OTHER });
  expect(errors('svc_src/a.svc')).toBe(0);
  workspace.edit({ uri: uri('svc_src/b.svc'), version: 1, text: OTHER.replace('class B', 'class C') });
  expect(errors('svc_src/a.svc')).toBe(1);
  workspace.refresh([uri('svc_src/b.svc')]);
  expect(errors('svc_src/a.svc')).toBe(1);
  workspace.close(uri('svc_src/b.svc'));
  expect(errors('svc_src/a.svc')).toBe(0);
});

test('only a file whose text changed is parsed again', () => {
  const { workspace, uri } = opened({ 'svc_src/a.svc': CLASS, 'svc_src/b.svc': OTHER });
  const documentOf = (name: string) => workspace.at(uri(name))?.program.document(pathOf(uri(name)));
  const [a, b] = [documentOf('svc_src/a.svc'), documentOf('svc_src/b.svc')];
  workspace.edit({ uri: uri('svc_src/b.svc'), version: 1, text: `${OTHER}\n` });
  workspace.refresh([uri('svc_src/a.svc')]);
  expect(documentOf('svc_src/a.svc')).toBe(a);
  expect(documentOf('svc_src/b.svc')).not.toBe(b);
});

test('new, changed, deleted and renamed files and directories are followed', () => {
  const { folder, workspace, uri, programs, errors } = opened({ 'svc_src/a.svc': CLASS });
  expect(errors('svc_src/a.svc')).toBe(1);
  mkdirSync(join(folder, 'svc_src/more'));
  writeFileSync(join(folder, 'svc_src/more/b.svc'), OTHER);
  workspace.refresh([uri('svc_src/more/b.svc')]);
  expect(errors('svc_src/a.svc')).toBe(0);
  writeFileSync(join(folder, 'svc_src/more/b.svc'), 'class C {\n  d int\n}\n');
  workspace.refresh([uri('svc_src/more/b.svc')]);
  expect(errors('svc_src/a.svc')).toBe(1);
  // Some editors report only the directory.
  renameSync(join(folder, 'svc_src/more'), join(folder, 'svc_src/other'));
  workspace.refresh([uri('svc_src/more'), uri('svc_src/other')]);
  expect(programs()).toEqual({ svc_src: ['svc_src/a.svc', 'svc_src/other/b.svc'] });
  mkdirSync(join(folder, 'new/baml_src'), { recursive: true });
  writeFileSync(join(folder, 'new/baml_src/c.baml'), OTHER);
  workspace.refresh([uri('new/baml_src/c.baml')]);
  expect(programs()['new/baml_src']).toEqual(['new/baml_src/c.baml']);
  mkdirSync(join(folder, 'node_modules/x/svc_src'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/x/svc_src/d.svc'), OTHER);
  workspace.refresh([uri('node_modules/x/svc_src/d.svc')]);
  expect(Object.keys(programs())).toEqual(['svc_src', 'new/baml_src']);
  rmSync(join(folder, 'new'), { recursive: true });
  workspace.refresh([uri('new/baml_src/c.baml')]);
  expect(Object.keys(programs())).toEqual(['svc_src']);
  rmSync(join(folder, 'svc_src'), { recursive: true });
  workspace.refresh([uri('svc_src')]);
  expect(programs()).toEqual({});
});

test('a file that is not UTF-8 has a reason, and the other files keep their features', () => {
  const { folder, workspace, uri, errors } = opened({ 'svc_src/a.svc': CLASS, 'svc_src/b.svc': OTHER });
  writeFileSync(join(folder, 'svc_src/b.svc'), Buffer.from([0x63, 0xff, 0xfe]));
  workspace.refresh([uri('svc_src/b.svc')]);
  const { program } = workspace.at(uri('svc_src/a.svc')) ?? {};
  expect([...(program?.unreadable.values() ?? [])]).toEqual([expect.stringContaining('is not valid UTF-8')]);
  expect(errors('svc_src/a.svc')).toBe(1);
  writeFileSync(join(folder, 'svc_src/b.svc'), OTHER);
  workspace.refresh([uri('svc_src/b.svc')]);
  expect(program?.unreadable.size).toBe(0);
  expect(errors('svc_src/a.svc')).toBe(0);
});

test('folders can be added and removed', () => {
  const { folder, workspace, uri, programs } = opened({ 'one/svc_src/a.svc': CLASS });
  const more = temporaryFolder({ 'svc_src/z.svc': OTHER });
  workspace.addFolder(pathToFileURL(more).href);
  expect([...workspace.programs].map(({ root }) => root).toSorted()).toEqual(
    [join(folder, 'one/svc_src'), join(more, 'svc_src')].toSorted(),
  );
  workspace.removeFolder(pathToFileURL(more).href);
  workspace.removeFolder(uri(''));
  workspace.removeFolder(pathToFileURL(folder).href);
  expect(programs()).toEqual({});
});

test('the same file has the same path in every encoding of its URI, and documents keep the URI of the client', () => {
  expect(pathOf('file:///a%20b/%C3%A4%3A.svc')).toBe('/a b/ä:.svc');
  expect(pathOf('file:///a b/ä:.svc')).toBe('/a b/ä:.svc');
  expect(pathOf('untitled:Untitled-1')).toBe('untitled:Untitled-1');
  expect(pathOf('file:///a%2Fb.svc')).toBe('file:///a%2Fb.svc');
  expect(pathOf(uriOf('/a b/#?%.svc'))).toBe('/a b/#?%.svc');
  const { folder, workspace } = opened({ 'svc_src/ä b.svc': CLASS });
  const written = `file://${folder}/svc_src/%c3%a4%20b.svc`;
  workspace.edit({ uri: written, version: 1, text: OTHER });
  expect(workspace.uriOf(join(folder, 'svc_src/ä b.svc'))).toBe(written);
  expect(workspace.at(`file://${folder}/svc_src/ä b.svc`)?.program.analysis().diagnostics).toEqual([]);
});

test('the names in .env.example are known without their values', () => {
  const { folder, workspace, uri } = opened({ 'svc_src/a.svc': CLASS });
  writeFileSync(join(folder, '.env.example'), '# A comment\nOPENAI_API_KEY=sk-x\n# OTHER_KEY=\nexport THIRD=1\n');
  const { program } = workspace.at(uri('svc_src/a.svc')) ?? {};
  expect(program && workspace.variablesOf(program)).toEqual(['OPENAI_API_KEY', 'OTHER_KEY', 'THIRD']);
});

test('positions count UTF-16 units, and one beyond a line or the file means its end', () => {
  const file = new SourceFile('a', 'a😀b\r\ncd\n');
  expect(positionOf(file, 3)).toEqual({ line: 0, character: 3 });
  expect(offsetAt(file, { line: 0, character: 3 })).toBe(3);
  expect(offsetAt(file, { line: 0, character: 99 })).toBe(4);
  expect(offsetAt(file, { line: 1, character: 99 })).toBe(8);
  expect(offsetAt(file, { line: 2, character: 0 })).toBe(9);
  expect(offsetAt(file, { line: 99, character: 0 })).toBe(9);
});
