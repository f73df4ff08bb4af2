import { expect, test } from 'vitest';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { checkFile, checkText, OPTIONS } from './sample-files.ts';

const asking = (version: string): string =>
  `generator api {\n  output_type "rest/openapi"\n  version "${version}"\n}\n`;

const MISMATCH = 'check/version-mismatch';
const NO_VERSION = 'check/generator-version';

test.each([
  ['1.2.9', '1.2.0', []],
  ['1.2', '1.2.3', []],
  ['1', '1.2.3', []],
  ['1.3.0', '1.2.0', [MISMATCH]],
  ['2.2.0', '1.2.0', [MISMATCH]],
  ['1.3', '1.2.3', [MISMATCH]],
  ['2', '1.2.3', [MISMATCH]],
])('a generator for version %s in svc %s has the problems %j', (asked, own, codes) => {
  const { diagnostics } = checkText(asking(asked), { ...OPTIONS, version: own });
  expect(diagnostics.map(({ code }) => code)).toEqual(codes);
  if (codes.length > 0)
    expect(diagnostics[0]?.message).toBe(`"input.svc" asks for version ${asked}, but this is svc ${own}.`);
});

test('without the version check, another version is accepted', () => {
  expect(checkText(asking('9.9.9'), { ...OPTIONS, versionCheck: false }).diagnostics).toEqual([]);
});

test.each(['latest', '^0.1.0', 'v1', '', '1.2.3.4'])('"%s" is not a version, which is only a warning', (version) => {
  const { diagnostics } = checkText(asking(version));
  expect(diagnostics).toMatchObject([{ code: NO_VERSION, severity: 'warning' }]);
});

test.each([
  'generator api {\n output_type "go"\n version 2.0.0\n}',
  'generator api {\n output_type "go"\n version 2.0\n}',
  'generator api {\n output_type "go"\n version: 2.0.0\n}',
  'generator api {\n output_type "go"\n version #"2.0.0"#\n}',
  'generator api {\n output_type "go"\n version "0.1.0"\n version "2.0.0"\n}',
  'generator api { output_type rest/openapi version 9.1.0 }',
  'generator {\n  version "9.0.0"\n}\n',
])('the version in %j is another one, however it is written', (text) => {
  const errors = checkText(text).diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ code }) => code)).toEqual([MISMATCH]);
});

const inBaml = (version: string, versionCheck = true) =>
  checkFile(new SourceFile('baml_src/main.baml', asking(version)), { ...OPTIONS, versionCheck }).diagnostics;

test('in a *.baml file, the version is that of the language: 0.x agrees, 1.x and later do not', () => {
  for (const version of ['0.226.2', '0.19.0', '0.70.1-canary.3', '0.80', '0']) expect(inBaml(version)).toEqual([]);
  for (const version of ['1.0.0', '1.2.3', '2.0', '10.0.0'])
    expect(inBaml(version)).toMatchObject([{ code: MISMATCH }]);
  expect(inBaml('1.0.0', false)).toEqual([]);
  expect(inBaml('latest')).toMatchObject([{ code: NO_VERSION }]);
  expect(inBaml('1.0.0')[0]?.message).toBe(
    '"baml_src/main.baml" asks for version 1.0.0 of BAML, but svc 0.1.0 reads version 0.',
  );
});
