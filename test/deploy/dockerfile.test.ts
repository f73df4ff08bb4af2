import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';

// `npm run test:image` runs the steps and the program; these tests need no rights.
const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').trim().split('\n');

function sourcesOf(pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(([, paths = '']) => paths.split(' ').slice(0, -1));
}

test('the image copies what the build makes', () => {
  const built = sourcesOf(/^COPY --from=build (.*)$/gmu).map((path) => path.replace('/app/', ''));
  expect(built.length).toBeGreaterThan(3);
  expect(built.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('the image copies files of the checkout that its context contains', () => {
  const paths = sourcesOf(/^COPY (?!--)(.*)$/gmu);
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)) || ignored.includes(path))).toEqual([]);
});

test('the image has a user whose number is not that of root, and a health check', () => {
  expect(text).toMatch(/^USER [1-9]\d*:[1-9]\d*$/mu);
  expect(text).toMatch(/^HEALTHCHECK .* CMD \["svc", "healthcheck"\]$/mu);
});
