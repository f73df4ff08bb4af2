import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { generatedSection } from './generated-section.ts';
import { tableOf } from './markdown.ts';
import { allFigures, mainFigures, SOURCES, type FigureRow } from './measured-figures.ts';

const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'bench/package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

function figures(rows: readonly FigureRow[]): string {
  return tableOf(['measured', 'svc', `\`baml-cli serve\` ${dependencies['@boundaryml/baml'] ?? ''}`], rows);
}

test.each([
  ['README.md', mainFigures()],
  ['docs/comparison.md', allFigures()],
])('the figures in %s are those of the newest measurements', (page, rows) => {
  expect(rows.flat().filter((cell) => cell.includes('NaN'))).toEqual([]);
  const { actual, expected } = generatedSection(page, 'figures', figures(rows));
  expect(actual).toBe(expected);
});

test('docs/comparison.md links the files with the measurements', () => {
  const links = Object.values(SOURCES).map((path) => `- [${path}](../${path})`);
  const { actual, expected } = generatedSection('docs/comparison.md', 'sources', links.join('\n'));
  expect(actual).toBe(expected);
});
