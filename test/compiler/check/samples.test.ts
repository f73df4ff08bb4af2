import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CHECK_CODES } from '../../../src/diagnostics/catalogue/check.ts';
import { PARSE_CODES } from '../../../src/diagnostics/catalogue/parse.ts';
import { printDefinitions } from './print-definitions.ts';
import { checkFile, checkText, printed, report, resolved, samples, type Outcome } from './sample-files.ts';

const invalid = samples('invalid');
const valid = samples('valid');

test('there are samples of both kinds', () => {
  expect(invalid.length).toBeGreaterThanOrEqual(307);
  expect(valid.length).toBeGreaterThanOrEqual(156);
});

test.each(invalid)('$name has the expected diagnostics', ({ file, directory }) => {
  const { diagnostics } = checkFile(file);
  expect(diagnostics.filter((diagnostic) => diagnostic.severity === 'error')).not.toEqual([]);
  expect(report(file, diagnostics)).toBe(readFileSync(join(directory, 'expected.txt'), 'utf8'));
});

test.each(valid)('$name has no errors and resolves as expected', ({ file, directory }) => {
  const outcome = checkFile(file);
  expect(outcome.diagnostics.filter((diagnostic) => diagnostic.severity === 'error')).toEqual([]);
  expect(printed(outcome)).toBe(readFileSync(join(directory, 'resolved.txt'), 'utf8'));
});

test('every code of the catalogues is in a sample', () => {
  const seen = new Set(
    [...invalid, ...valid].flatMap(({ file }) => checkFile(file).diagnostics.map(({ code }) => code)),
  );
  expect([...PARSE_CODES, ...CHECK_CODES].filter((code) => !seen.has(code))).toEqual([]);
});

/** Errors by their code, and the definitions without positions and expressions. */
function meaningOf({ definitions, diagnostics }: Outcome): unknown {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  return { errors, definitions: resolved(definitions) };
}

/** An alias with a label can occur next to the same label; if its type replaces it, the label occurs twice. */
const LABELS_OF_ALIASES = 'labels-used-twice';

test.each(valid.filter(({ name }) => name !== LABELS_OF_ALIASES))(
  'the definitions of $name are the same when they are printed and read again',
  ({ file }) => {
    const { definitions } = checkFile(file);
    if (definitions === undefined) throw new Error('the sample has no definitions');
    const again = checkText(printDefinitions(definitions));
    expect(meaningOf(again)).toEqual(meaningOf({ definitions, diagnostics: [] }));
  },
);

/** Schemas from another implementation of the language, if they are next to the checkout. */
const CASES = fileURLToPath(new URL('../../../../shared/conformance/cases.json', import.meta.url));

interface Case {
  readonly id: string;
  readonly schema: string;
  readonly target: string;
}

test.runIf(existsSync(CASES))('every schema of the conformance cases loads without an error', () => {
  const cases = JSON.parse(readFileSync(CASES, 'utf8')) as readonly Case[];
  expect(cases.length).toBeGreaterThanOrEqual(216);
  const refused = cases.flatMap(({ id, schema, target }) => {
    const fn = `function F(input: string) -> ${target} {\n  client "openai/m"\n  prompt #"{{ input }}"#\n}\n`;
    const errors = checkText(`${schema}\n${fn}`).diagnostics.filter(({ severity }) => severity === 'error');
    return errors.map(({ message }) => `${id}: ${message}`);
  });
  expect(refused).toEqual([]);
});
