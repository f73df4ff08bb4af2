import { expect, test } from 'vitest';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { checkFile, checkText, OPTIONS } from './sample-files.ts';

const asking = (version: string): string =>
  `generator api {\n  output_type "rest/openapi"\n  version "${version}"\n}\n`;
const codes = (version: string, own: string, versionCheck = true): readonly string[] =>
  checkText(asking(version), { ...OPTIONS, version: own, versionCheck }).diagnostics.map(({ code }) => code);

test('the version of a generator on one line is checked', () => {
  const line = 'generator api { output_type rest/openapi version 9.1.0 }';
  expect(checkText(line).diagnostics.map(({ code }) => code)).toContain('check/version-mismatch');
});

test('another patch version is accepted', () => {
  expect(codes('1.2.9', '1.2.0')).toEqual([]);
});

test('another minor or major version is an error', () => {
  expect(codes('1.3.0', '1.2.0')).toEqual(['check/version-mismatch']);
  expect(codes('2.2.0', '1.2.0')).toEqual(['check/version-mismatch']);
});

test('the message states the required version and the version of svc', () => {
  const [diagnostic] = checkText(asking('1.3.0'), { ...OPTIONS, version: '1.2.0' }).diagnostics;
  expect(diagnostic?.message).toContain('1.3.0');
  expect(diagnostic?.message).toContain('1.2.0');
  expect(diagnostic?.span.file).toBe('input.svc');
});

test('without the version check, another version is accepted', () => {
  expect(codes('9.9.9', '1.2.0', false)).toEqual([]);
});

test.each(['latest', '^0.1.0', 'v1', '', '1.2.3.4'])('"%s" is not a version, which is only a warning', (version) => {
  const [diagnostic, ...others] = checkText(asking(version)).diagnostics;
  expect(others).toEqual([]);
  expect(diagnostic).toMatchObject({ code: 'check/generator-version', severity: 'warning' });
});

test('only the numbers that a version has are compared', () => {
  expect(codes('1.2', '1.2.3')).toEqual([]);
  expect(codes('1', '1.2.3')).toEqual([]);
  expect(codes('1.3', '1.2.3')).toEqual(['check/version-mismatch']);
  expect(codes('2', '1.2.3')).toEqual(['check/version-mismatch']);
});

test.each(['version 2.0.0', 'version 2.0', 'version: 2.0.0', 'version #"2.0.0"#', 'version "1.2.3"\n version "2.0.0"'])(
  'the version in `%s` is another one, however it is written',
  (entry) => {
    const text = `generator api {\n  output_type "go"\n  ${entry}\n}\n`;
    const errors = checkText(text, { ...OPTIONS, version: '1.2.3' }).diagnostics.filter(
      ({ severity }) => severity === 'error',
    );
    expect(errors.map(({ code }) => code)).toEqual(['check/version-mismatch']);
  },
);

test('the version of a generator without a name counts too', () => {
  const errors = checkText('generator {\n  version "9.0.0"\n}\n').diagnostics.filter(
    ({ severity }) => severity === 'error',
  );
  expect(errors.map(({ code }) => code)).toEqual(['check/version-mismatch']);
});

const inBaml = (version: string, versionCheck = true): readonly string[] =>
  checkFile(new SourceFile('baml_src/main.baml', asking(version)), { ...OPTIONS, versionCheck }).diagnostics.map(
    ({ code }) => code,
  );

test('in a *.baml file, the version is that of the language: 0.x agrees, 1.x and later do not', () => {
  for (const version of ['0.226.2', '0.19.0', '0.70.1-canary.3', '0.80', '0']) expect(inBaml(version)).toEqual([]);
  for (const version of ['1.0.0', '1.2.3', '2.0', '10.0.0'])
    expect(inBaml(version)).toEqual(['check/version-mismatch']);
  expect(inBaml('1.0.0', false)).toEqual([]);
  expect(inBaml('latest')).toEqual(['check/generator-version']);
});

test('the message for a *.baml file states the version of the language', () => {
  const file = new SourceFile('baml_src/main.baml', asking('1.0.0'));
  expect(checkFile(file).diagnostics[0]?.message).toBe(
    '"baml_src/main.baml" asks for version 1.0.0 of BAML, but svc 0.1.0 reads version 0.',
  );
});
