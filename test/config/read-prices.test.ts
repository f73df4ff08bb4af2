import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readPrices } from '../../src/config/read-prices.ts';
import { ROOT } from '../architecture/source-files.ts';
import { inEmptyDirectory, svc } from '../cli/command-line.ts';

inEmptyDirectory();

function read(text: string): ReturnType<typeof readPrices> {
  writeFileSync('prices.yaml', text);
  return readPrices('prices.yaml');
}

const MINI = { provider: 'openai', pattern: 'gpt-4o-mini*', input: 0.15, output: 0.6, cached_input: 0.075 };
const REST = { pattern: '*', input: 1, output: 0, cached_input: undefined };

test('a list and a map, in YAML and in JSON, have the same entries', () => {
  const entry = { provider: 'openai', input: 0.15, output: 0.6, cached_input: 0.075, date: '2026-11', comment: 'list' };
  const list = [
    { ...entry, model: 'gpt-4o-mini*' },
    { model: '*', input: 1, output: 0, date: 2026 },
  ];
  const map = { 'gpt-4o-mini*': entry, '*': { input: 1, output: 0 } };
  for (const text of [
    JSON.stringify(list),
    JSON.stringify(map),
    '- {provider: openai, model: gpt-4o-mini*, input: 0.15, output: 0.6, cached_input: 0.075}\n- model: "*"\n  input: 1\n  output: 0\n',
    'gpt-4o-mini*:\n  provider: openai\n  input: 0.15\n  output: 0.6\n  cached_input: 0.075\n"*": {input: 1, output: 0}\n',
  ]) {
    expect(read(text), text).toEqual({ ok: true, value: [MINI, REST] });
  }
});

test('the example in the documentation is read without a fault', () => {
  const page = readFileSync(`${ROOT}/docs/clients.md`, 'utf8');
  const [, example = ''] = /```yaml\n([^`]*cached_input[^`]*)```/u.exec(page) ?? [];
  expect(read(example)).toMatchObject({ ok: true, value: [{ pattern: 'gpt-4o-mini*' }, { pattern: '*sonnet-4*' }] });
});

const OK = 'input: 1, output: 2';

/** A file, and the message without the file's name. */
const FAULTS: ReadonlyArray<readonly [string, string]> = [
  ['', ' has no list of prices. Write entries such as "{provider: openai, model: gpt-4o*, input: 2.5, output: 10}".'],
  ['[]', ' has no list of prices. '],
  ['12', ' has no list of prices. '],
  ['- [', ' is neither YAML nor JSON: '],
  [`a: {${OK}}\na: {${OK}}`, ' is neither YAML nor JSON: Map keys must be unique at line 2, column 1.'],
  ['- *a', ' is neither YAML nor JSON: '],
  ['- 12', ', entry 1: must be a map. Write "{provider: openai'],
  [`- {${OK}}`, ', entry 1: has no "model". Write the name of a model, or a pattern such as "gpt-4o*".'],
  [`- {model: "", ${OK}}`, ', entry 1 (""): "model" is not a name. '],
  [`- {model: 4, ${OK}}`, ', entry 1: "model" is not a name. '],
  [`- {model: ${'x'.repeat(257)}, ${OK}}`, '"model" is not a name. '],
  [
    `- {model: a, ${OK}}\n- {model: b, inputs: 1}`,
    ', entry 2 ("b"): has an unknown key "inputs". Did you mean "input"?',
  ],
  [`- {model: a, ${OK}, price: 3}`, 'has an unknown key "price". '],
  [`- {model: a, provider: opnai, ${OK}}`, 'has an unknown provider "opnai". Did you mean "openai"?'],
  [`- {model: a, provider: 7, ${OK}}`, 'has an unknown provider 7. Use one of openai, '],
  [`- {model: a, provider: fallback, ${OK}}`, 'has an unknown provider "fallback". '],
  ['- {model: a, output: 1}', 'has no "input". Write US dollars per million tokens, 0 or more, such as 2.5.'],
  ['gpt: {input: 1}', ', entry "gpt": has no "output". Write US dollars'],
  ['- {model: a, input: -1, output: 1}', '"input" is -1. Write US dollars'],
  ['- {model: a, input: "1", output: 1}', '"input" is "1". Write US dollars'],
  ['- {model: a, input: 1, output: .inf}', '"output" is Infinity. Write US dollars'],
  ['- &a {model: a, input: *a, output: 1}', '"input" is a map. Write US dollars'],
  [`- {model: a, provider: [openai], ${OK}}`, 'has an unknown provider a list. Use one of openai, '],
  [`- {model: a, ${OK}, cached_input: free}`, '"cached_input" is "free". Write US dollars'],
  [
    `- {model: a, ${OK}}\n- {model: a, ${OK}}`,
    ', entry 2 ("a"): has the provider and the model of entry 1 ("a"). Remove one.',
  ],
];

test.each(FAULTS)('%j is refused with one sentence about its first mistake', (text, message) => {
  const result = read(text);
  expect(result.ok ? result.value : result.failure).toContain(message);
  expect(result.ok ? '' : result.failure).toMatch(/^"prices\.yaml"[^\n]+\.?$/u);
});

test('a file that does not exist, or is a directory, is named', () => {
  mkdirSync('folder');
  expect(readPrices('none.yaml')).toEqual({
    ok: false,
    failure: '"none.yaml" cannot be read: it does not exist. Pass an existing file.',
  });
  expect(readPrices('folder')).toMatchObject({ failure: expect.stringContaining('it is a directory') as string });
});

test.each(['serve', 'dev'])(
  'svc %s with an invalid price file exits with code 2 before it reads definitions',
  async (name) => {
    writeFileSync('prices.yaml', '- {model: a, input: 1}');
    expect(await svc(name, '--prices', 'prices.yaml')).toEqual({
      code: 2,
      out: '',
      error:
        'svc: "prices.yaml", entry 1 ("a"): has no "output". Write US dollars per million tokens, 0 or more, such as 2.5.\n',
    });
  },
);
