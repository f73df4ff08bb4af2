import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { parse } from '../../../src/compiler/1-parse/parse.ts';
import { tokenize } from '../../../src/compiler/1-parse/tokenize.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { checkText, samples } from '../check/sample-files.ts';

const texts = [...samples('valid'), ...samples('invalid')].map(({ name, file }) => ({ name, text: file.text }));
/** Cuts everywhere take quadratic time, so samples that are longer than this have fewer cuts, evenly spread. */
const LONG = 250;
const CUTS_OF_LONG = 10;
const short = texts.filter(({ text }) => text.length > 0 && text.length <= LONG);

/** Short samples share constructs, so each has every sixth cut, and a search (`FC_RUNS`) makes all of them. */
const STEP_OF_SHORT = process.env['FC_RUNS'] === undefined ? 6 : 1;

/**
 * Returns offsets of cuts in a sample, from the offset with this number: before each sign, word and run of blanks, and after the first
 * character of each.
 */
function cutsOf(text: string, first: number): readonly number[] {
  const all = [...text.matchAll(/\w+|\s+|[^]/gu)].flatMap(({ 0: { length }, index }) =>
    length === 1 ? [index] : [index, index + 1],
  );
  const step = text.length <= LONG ? STEP_OF_SHORT : Math.ceil(all.length / CUTS_OF_LONG);
  return all.filter((_, at) => at % step === first % step);
}

/** Tokens of the language, and some of other languages. */
const PIECES =
  'class enum type function client<llm> test type_builder { } ( ) [ ] < > , : ; = | ? -> @ @@check( @alias( {{ }} " #" "# \' // /// {// //} \\ \n A b 5 -1 1e5 env.X string map< options prompt é'.split(
    ' ',
  );
const soup = fc.array(fc.constantFrom(...PIECES, '\n', ' '), { maxLength: 60 }).map((pieces) => pieces.join(' '));

test('there are enough samples', () => {
  expect(texts.length).toBeGreaterThanOrEqual(390);
  expect(short.length).toBeGreaterThanOrEqual(300);
});

test('the images of all tokens joined are the source', () => {
  for (const { text } of texts) expect(joined(text)).toBe(text);
  assertProperty(fc.property(fc.string(), (text) => joined(text) === text));
  assertProperty(fc.property(soup, (text) => joined(text) === text));
});

test('tokens match their positions, and only added tokens are empty', () => {
  for (const { text } of texts) {
    const misplaced = tokenize(text).filter(
      ({ image, startOffset }) => image === '' || !text.startsWith(image, startOffset),
    );
    expect(misplaced).toEqual([]);
  }
});

test('prefixes of every sample are checked without an exception', () => {
  for (const [index, { text }] of texts.entries()) {
    expect(cutsOf(text, index).flatMap((end) => placesOutside(text.slice(0, end)))).toEqual([]);
  }
}, 120_000);

test('every sample without one of its characters is checked without an exception', () => {
  for (const [index, { text }] of texts.entries()) {
    const cuts = cutsOf(text, index + 1);
    expect(cuts.flatMap((at) => placesOutside(text.slice(0, at) + text.slice(at + 1)))).toEqual([]);
  }
}, 120_000);

test('any sequence of tokens is checked without an exception', () => {
  assertProperty(
    fc.property(soup, (text) => {
      expect(placesOutside(text)).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test('a definition between two mistakes is read', () => {
  const { document } = parse(new SourceFile('a.svc', 'clas A {}\nclass B {\n  x int\n}\nenum C D\ntype E = int\n'));
  expect(document.declarations.map((node) => node.name.text)).toContain('B');
  expect(document.declarations.map((node) => node.name.text)).toContain('E');
});

test('a mistake in one field does not affect the others', () => {
  const { document, diagnostics } = parse(new SourceFile('a.svc', 'class A {\n  a int\n  5 b\n  c int\n}\n'));
  const [node] = document.declarations;
  expect(node?.kind === 'class' && node.fields.map((field) => field.name.text)).toEqual(['a', 'c']);
  expect(diagnostics).toHaveLength(1);
});

function joined(text: string): string {
  return tokenize(text)
    .map((token) => token.image)
    .join('');
}

/** Checks the text, and returns the reported positions outside of it. */
function placesOutside(text: string): readonly object[] {
  const places = checkText(text).diagnostics.flatMap(({ span, related = [] }) => [
    span,
    ...related.map((other) => other.span),
  ]);
  return places
    .filter(({ start, end }) => start < 0 || end > text.length || start > end)
    .map((span) => ({ span, text }));
}
