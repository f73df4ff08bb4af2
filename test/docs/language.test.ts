import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STATEMENTS } from '../../src/compiler/1-parse/template/parse-template.ts';
import { KEYWORD_TYPES } from '../../src/compiler/1-parse/tokens.ts';
import { MEDIA, PRIMITIVES } from '../../src/schema/type.ts';
import { ATTRIBUTES, PLACES } from '../../src/compiler/2-check/rules/known-attributes.ts';
import { KNOWN_KEYS } from '../../src/compiler/1-parse/syntax-nodes.ts';
import { formatSource } from '../../src/compiler/format-source.ts';
import { PROVIDERS } from '../../src/schema/providers/providers.ts';
import {
  FILTERS,
  FUNCTIONS,
  METHODS,
  OUTPUT_FORMAT_OPTIONS,
  TESTS,
} from '../../src/schema/template-vocabulary.ts';
import { ROOT } from '../architecture/source-files.ts';
import { generatedSection } from './generated-section.ts';
import { compiled, ExampleRunner, examplesIn, rewritten } from './language-examples.ts';

/* `UPDATE_DOCS=1` writes the outcomes of the examples and the table of attributes. Read them before you commit them. */

const PATH = 'docs/language.md';
const read = (): string => readFileSync(join(ROOT, PATH), 'utf8');

if (process.env['UPDATE_DOCS'] === '1') {
  const runner = new ExampleRunner(read());
  writeFileSync(join(ROOT, PATH), rewritten(read(), (example) => runner.run(example)));
}

const page = read();
const runner = new ExampleRunner(page);
const examples = examplesIn(page);
const shown = examples.filter(({ kind }) => kind !== 'baml');
/** The code on the page, without prose. */
const code = [...page.matchAll(/^```[^]*?^```$|`[^`\n]+`/gmu)].map(([text]) => text).join('\n');

test('the page has examples of every kind', () => {
  const kinds = new Map<string, number>();
  for (const { kind } of examples) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const expected = ['baml', 'wrong', 'output', 'prompt', 'template', 'expressions', 'descriptions', 'options', 'reply', 'stream'];
  expect([...kinds.keys()].toSorted()).toEqual(expected.toSorted());
  expect(examples.length).toBeGreaterThan(70);
});

test('the definitions on the page are one program without errors or warnings', () => {
  expect(compiled(runner.definitions).diagnostics.map(({ code: name, message }) => `${name}: ${message}`)).toEqual([]);
});

test('every block of definitions has the format of `svc fmt`', () => {
  const blocks = examples.filter(({ kind }) => kind === 'baml').map(({ input }) => `${input}\n`);
  for (const block of blocks) expect(formatSource(block)).toBe(block);
});

test.each(shown)('$kind: $input', (example) => {
  expect(runner.run(example)).toBe(example.shown);
});

test('only `wrong` examples have problems, and each has exactly one', () => {
  for (const { kind, shown: outcome } of shown) {
    if (kind === 'wrong') expect(outcome).toMatch(/^=> (?:error|warning) [a-z-]+\/[a-z-]+: .+$/u);
    else expect(outcome).not.toMatch(/(?:^|→ )(?:failure:|[a-z]+\/[a-z-]+: )/mu);
  }
});

test('the page names every keyword, type, block key and provider', () => {
  const words = [...KEYWORD_TYPES.keys(), ...PRIMITIVES, ...MEDIA, ...PROVIDERS, ...Object.values(KNOWN_KEYS).flat()];
  expect(missing(words, (word) => `(?<![\\w-])${word}(?![\\w-])`)).toEqual([]);
});

test('the page uses every part of templates, and every option of the output format', () => {
  const methods = Object.values(METHODS).flatMap((each) => Object.keys(each));
  expect(missing(Object.keys(FILTERS), (name) => `\\|\\s*${name}\\b`)).toEqual([]);
  expect(missing(Object.keys(TESTS), (name) => (/\w/u.test(name) ? `\\bis ${name}\\b` : `"${name}"`))).toEqual([]);
  expect(missing(Object.keys(FUNCTIONS), (name) => `(?<![.\\w])${name}\\(`)).toEqual([]);
  expect(missing(STATEMENTS, (name) => `\\{%-? ${name}\\b`)).toEqual([]);
  expect(missing(methods, (name) => `\\.${name}\\(`)).toEqual([]);
  expect(missing(OUTPUT_FORMAT_OPTIONS, (name) => `\\b${name}=`)).toEqual([]);
});

test('the table of attributes matches the checker', () => {
  const rows = Object.entries(ATTRIBUTES).map(([name, places]) => {
    const effective = Object.entries(PLACES).filter(
      // A rule of its own forbids checks on parameters.
      ([place]) => places[place as keyof typeof PLACES] === 'effect' && !(name === 'check' && place === 'parameter'),
    );
    const blocks = effective.filter(([place]) => BLOCK_PLACES.has(place));
    const others = effective.filter(([place]) => !BLOCK_PLACES.has(place));
    const cell = (mark: string, found: typeof effective): string =>
      found.length === 0 ? '' : `\`${mark}${name}\`: ${found.map(([, text]) => text).join(', ')}`;
    return `| ${cell('@', others)} | ${cell('@@', blocks)} |`;
  });
  const table = ['| after a type, field or value | in a block |', '| --- | --- |', ...rows].join('\n');
  const { actual, expected } = generatedSection(PATH, 'attributes', table);
  expect(actual).toBe(expected);
});

const BLOCK_PLACES: ReadonlySet<string> = new Set(['class', 'enum', 'test']);

test('the types in the table for TypeScript exist', () => {
  const [, table = ''] = /^\| TypeScript [^]*?\n\| ---.*\n([^]*?)\n\n/mu.exec(page) ?? [];
  const types = table.split('\n').map((row) => /^\|.* \| `([^`]+)`[^|]*\|$/u.exec(row)?.[1]?.replaceAll('\\|', '|'));
  const known = types.filter((type) => type !== undefined);
  expect(known.length).toBeGreaterThan(7);
  for (const type of known) {
    const source = `function F(value: ${type}) -> string {\n  client "openai/x"\n  prompt #"{{ value }}"#\n}\n`;
    expect(compiled(source).diagnostics, type).toEqual([]);
  }
});

test('the table of contents lists every section', () => {
  const sections = [...page.matchAll(/^## (.+)$/gmu)].map(([, title = '']) => title);
  const listed = [...page.matchAll(/^- \[(.+?)\]\(#[^)]*\)/gmu)].map(([, title = '']) => title);
  expect(listed).toEqual(sections);
});

/** Returns the names without a match in the code of the page. */
function missing(names: readonly string[], pattern: (name: string) => string): readonly string[] {
  return names.filter((name) => !new RegExp(pattern(name), 'u').test(code));
}
