import { expect, test } from 'vitest';
import { checkText, OPTIONS } from './sample-files.ts';

const asking = (version: string): string =>
  `generator api {\n  output_type "rest/openapi"\n  version "${version}"\n}\n`;
const codes = (version: string, own: string, versionCheck = true): readonly string[] =>
  checkText(asking(version), { ...OPTIONS, version: own, versionCheck }).diagnostics.map(({ code }) => code);

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

test('without the version check another version is accepted, but it must still be a version', () => {
  expect(codes('9.9.9', '1.2.0', false)).toEqual([]);
  expect(codes('latest', '1.2.0', false)).toEqual(['check/generator-version']);
});
