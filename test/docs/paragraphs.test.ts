import { expect, test } from 'vitest';
import { textFiles } from '../architecture/source-files.ts';
import { proseIn } from './markdown.ts';

/** Readers skip longer blocks: lists and tables show the same facts better. */
const MOST_WORDS = 120;

function wordsOf(paragraph: string): number {
  return paragraph.split(/\s+/u).length;
}

test('no paragraph and no list item of the documentation has more than 120 words', () => {
  const pages = textFiles().filter(({ path }) => path.endsWith('.md'));
  expect(pages.length).toBeGreaterThan(50);
  const paragraphs = pages.flatMap(({ path, text }) => proseIn(text).map((paragraph) => ({ path, paragraph })));
  expect(paragraphs.length).toBeGreaterThan(1_000);
  const long = paragraphs.filter(({ paragraph }) => wordsOf(paragraph) > MOST_WORDS);
  expect(long.map(({ path, paragraph }) => `${path}, ${wordsOf(paragraph)} words: ${paragraph.slice(0, 60)}`)).toEqual([]);
});

test('prose is found outside of code, tables and headings', () => {
  const page = '# Title\n\nOne\ntwo.\nThree:\n- a\n  b\n- c\n\n1. d\n\n    code\n\n| e |\n|---|\n\n```\nf\n```\n\n<!-- g -->\n';
  expect(proseIn(page)).toEqual(['One two. Three:', 'a b', 'c', 'd']);
});
