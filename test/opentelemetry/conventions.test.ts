import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as semantics from '@opentelemetry/semantic-conventions/incubating';
import { expect, test } from 'vitest';
import { CONVENTIONS, OWN } from '../../src/telemetry/attributes.ts';
import { METRICS } from '../../src/telemetry/instruments.ts';
import { ROOT } from '../architecture/source-files.ts';
import { describedTable } from '../docs/generated-section.ts';

const PAGE = 'docs/telemetry.md';
const page = readFileSync(join(ROOT, PAGE), 'utf8');

/** The values of the constants of the conventions whose names begin like this. */
function defined(prefix: string): ReadonlySet<unknown> {
  const constants = Object.entries(semantics).filter(([name]) => name.startsWith(prefix));
  return new Set(constants.map(([, value]) => value));
}

test('the conventions define every attribute and metric', () => {
  const attributes = defined('ATTR_');
  expect(attributes.size).toBeGreaterThan(100);
  expect(Object.values(CONVENTIONS).filter((name) => !attributes.has(name))).toEqual([]);
  const metrics = defined('METRIC_');
  expect(Object.values(METRICS).filter(({ name }) => !metrics.has(name))).toEqual([]);
});

test('no attribute of svc has a name of the conventions', () => {
  expect(Object.values(OWN).filter((name) => !name.startsWith('svc.'))).toEqual([]);
});

test.each([
  ['attributes of the conventions', CONVENTIONS],
  ['attributes of svc', OWN],
])('the page lists the %s', (name, attributes) => {
  const rows = Object.values(attributes).map((attribute) => [`\`${attribute}\``]);
  const table = describedTable(PAGE, name, ['attribute', 'of', 'value'], rows);
  expect(table.actual, 'run the tests with UPDATE_DOCS=1').toBe(table.expected);
});

test('the page lists every metric with its unit', () => {
  const rows = Object.values(METRICS).map(({ name, unit }) => [`\`${name}\``, `\`${unit}\``]);
  const table = describedTable(PAGE, 'metrics', ['metric', 'unit', 'meaning'], rows);
  expect(table.actual, 'run the tests with UPDATE_DOCS=1').toBe(table.expected);
});

test('the providers and token types of the conventions have the same names here', () => {
  for (const name of ['openai', 'azure.ai.openai', 'anthropic', 'gcp.gemini', 'gcp.vertex_ai', 'aws.bedrock']) {
    expect(defined('GEN_AI_PROVIDER_NAME_VALUE_')).toContain(name);
    expect(page).toContain(`\`${name}\``);
  }
  for (const name of ['chat', 'generate_content']) expect(defined('GEN_AI_OPERATION_NAME_VALUE_')).toContain(name);
});
