import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { formatSarif } from '../../src/diagnostics/report-formats.ts';
import { checkFile, samples } from '../compiler/check/sample-files.ts';

/** The official schema is part of a package of 100 MB, which `npm run test:sarif` installs first. */
const SCHEMA = fileURLToPath(
  new URL('official-schema/node_modules/@microsoft/sarif-multitool-linux/sarif-2.1.0.json', import.meta.url),
);

test.runIf(existsSync(SCHEMA))('the reports of all samples satisfy the official schema of SARIF 2.1.0', () => {
  const schema = JSON.parse(readFileSync(SCHEMA, 'utf8')) as object;
  const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  const all = [...samples('invalid'), ...samples('valid')];
  expect(all.length).toBeGreaterThanOrEqual(380);
  let fixes = 0;
  for (const { name, file } of all) {
    const { diagnostics } = checkFile(file);
    fixes += diagnostics.filter(({ fix }) => fix !== undefined).length;
    const report = JSON.parse(formatSarif({ files: [file], diagnostics }, '1.0.0'));
    expect(validate(report) ? [] : validate.errors, name).toEqual([]);
  }
  expect(fixes).toBeGreaterThanOrEqual(48);
  expect(validate({ version: '2.1.0', runs: [{ results: [] }] })).toBe(false);
});
