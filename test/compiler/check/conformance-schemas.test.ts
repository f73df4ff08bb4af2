import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkText } from './sample-files.ts';

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
