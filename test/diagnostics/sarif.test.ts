import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { formatSarif } from '../../src/diagnostics/report-formats.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { checkFile, samples } from '../compiler/check/sample-files.ts';

/**
 * The requirements of SARIF 2.1.0 (OASIS, sections 3.13 to 3.58) for the objects of a report: required members, ranges,
 * enumerations. Members that the report does not use are not allowed here, so that a new member is looked up first.
 */
const TEXT = { type: 'string', minLength: 1 };
const POSITIVE = { type: 'integer', minimum: 1 };
const MESSAGE = object({ text: TEXT }, ['text']);
const REGION = object({ startLine: POSITIVE, startColumn: POSITIVE, endLine: POSITIVE, endColumn: POSITIVE }, [
  'startLine',
]);
const ARTIFACT = object({ uri: { type: 'string', pattern: "^(?:[A-Za-z0-9._~!$&'()*+,;=@/-]|%[0-9A-F]{2})+$" } }, [
  'uri',
]);
const PLACE = object({ artifactLocation: ARTIFACT, region: REGION }, ['artifactLocation']);
const LOCATION = object({ physicalLocation: PLACE, message: MESSAGE }, ['physicalLocation']);
const REPLACEMENT = object({ deletedRegion: REGION, insertedContent: object({ text: { type: 'string' } }, []) }, [
  'deletedRegion',
]);
const CHANGE = object(
  { artifactLocation: ARTIFACT, replacements: { type: 'array', items: REPLACEMENT, minItems: 1 } },
  ['artifactLocation', 'replacements'],
);
const FIX = object({ description: MESSAGE, artifactChanges: { type: 'array', items: CHANGE, minItems: 1 } }, [
  'artifactChanges',
]);
const LEVEL = { enum: ['none', 'note', 'warning', 'error'] };
const RESULT = object(
  {
    ruleId: TEXT,
    ruleIndex: { type: 'integer', minimum: 0 },
    level: LEVEL,
    message: MESSAGE,
    locations: { type: 'array', items: LOCATION },
    relatedLocations: { type: 'array', items: LOCATION, uniqueItems: true },
    fixes: { type: 'array', items: FIX, uniqueItems: true },
  },
  ['message', 'ruleId', 'ruleIndex'],
);
const RULE = object({ id: TEXT, defaultConfiguration: object({ level: LEVEL }, []) }, ['id']);
const RULES = { type: 'array', items: RULE, uniqueItems: true };
const DRIVER = object({ name: TEXT, version: TEXT, rules: RULES }, ['name']);
const RUN = object(
  {
    tool: object({ driver: DRIVER }, ['driver']),
    columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
    results: { type: 'array', items: RESULT },
  },
  ['tool', 'results'],
);
const LOG = object(
  {
    $schema: { type: 'string', pattern: '^https://' },
    version: { const: '2.1.0' },
    runs: { type: 'array', items: RUN },
  },
  ['version', 'runs'],
);

const validate = new Ajv({ allErrors: true, strictRequired: true }).compile(LOG);

function object(properties: Record<string, object>, required: readonly string[]): object {
  return { type: 'object', properties, required, additionalProperties: false };
}

function faults(report: string): unknown {
  return validate(JSON.parse(report)) ? [] : validate.errors;
}

test('the reports of all samples have the form of SARIF 2.1.0', () => {
  const all = [...samples('invalid'), ...samples('valid')];
  expect(all.length).toBeGreaterThanOrEqual(300);
  for (const { name, file } of all) {
    const { diagnostics } = checkFile(file);
    expect(faults(formatSarif({ files: [file], diagnostics }, '1.0.0')), name).toEqual([]);
  }
});

test('results refer to their rules', () => {
  for (const { file } of samples('invalid')) {
    const report = JSON.parse(formatSarif({ files: [file], diagnostics: checkFile(file).diagnostics }, '1.0.0'));
    const { tool, results } = report.runs[0];
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
  }
});

test('the level of a rule is that of its most severe result', () => {
  const invalid = 'client<llm> A {\n  provider openai\n  options { model 1e5 }\n}\n';
  const lenient = 'test T {\n  args { x 1e5 }\n}\n';
  for (const text of [invalid + lenient, lenient + invalid]) {
    const file = new SourceFile('a.svc', text);
    const report = JSON.parse(formatSarif({ files: [file], diagnostics: checkFile(file).diagnostics }, '1.0.0'));
    const { tool, results } = report.runs[0];
    const id = 'parse/invalid-number';
    expect(tool.driver.rules).toContainEqual({ id, defaultConfiguration: { level: 'error' } });
    const levels = results
      .filter((one: { ruleId: string }) => one.ruleId === id)
      .map((one: { level: string }) => one.level);
    expect(levels.toSorted()).toEqual(['error', 'warning']);
  }
});

test('paths are URI references, whatever is in them', () => {
  const file = new SourceFile('a b/#1?/ü:%.svc', 'class A {\n  a Strng\n}\n');
  const report = formatSarif({ files: [file], diagnostics: checkFile(file).diagnostics }, '1.0.0');
  expect(faults(report)).toEqual([]);
  expect(report).toContain('"uri": "a%20b/%231%3F/%C3%BC%3A%25.svc"');
});

test('the test detects a report of another form', () => {
  const report = formatSarif({ files: [], diagnostics: [] }, '1.0.0');
  expect(faults(report.replace('"2.1.0"', '"2.0.0"'))).not.toEqual([]);
  expect(faults(report.replace('"results"', '"result"'))).not.toEqual([]);
});
