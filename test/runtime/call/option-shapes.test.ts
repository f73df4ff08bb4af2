import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { testRuntime } from '../../support/test-runtime.ts';

/**
 * Options of a request in every wrong shape. A line contains the path, the value there, and the violations that the
 * caller receives. `options` means `svc_options`; `client:X` means a client of its registry with the provider X.
 */
const lines = readFileSync(new URL('option-shapes.txt', import.meta.url), 'utf8').split('\n');
const rows = lines.filter((line) => line.includes(' | ')).map(rowOf);

interface Row {
  readonly where: string;
  readonly value: string;
  readonly violations: string;
}

/** An empty table must not pass. */
const FEWEST_ROWS = 180;

const runtime = testRuntime('function F() -> string {\n  client "offline/x"\n  prompt #"hi"#\n}\n');

afterAll(() => runtime.close());

function rowOf(line: string): Row {
  const [where = '', value = '', ...violations] = line.split(' | ');
  return { where, value, violations: violations.join(' | ') };
}

/** Valid options, except for this value at this path. */
function optionsWith(where: string, value: unknown): unknown {
  const [place = '', ...keys] = where.split('.');
  if (place === 'options') return placed({}, keys, value);
  const provider = place.replace('client:', '');
  const client = placed({ name: 'New', provider, options: NEEDED[provider] ?? {} }, keys, value);
  return { client_registry: { clients: [client] } };
}

const NEEDED: Readonly<Record<string, object>> = {
  'openai-generic': { base_url: 'http://127.0.0.1:1' },
  'azure-openai': { base_url: 'http://127.0.0.1:1' },
  'google-ai': { model: 'm' },
  'vertex-ai': { model: 'm', location: 'eu' },
  'aws-bedrock': { model: 'm', region: 'r' },
  fallback: { strategy: ['offline/x'] },
  'round-robin': { strategy: ['offline/x'] },
};

function placed(holder: object, keys: readonly string[], value: unknown): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  const inner: unknown = Reflect.get(holder, key);
  return { ...holder, [key]: placed(typeof inner === 'object' && inner !== null ? inner : {}, rest, value) };
}

function violationsFor({ where, value }: Row): string {
  const prepared = runtime.prepare('F', { svc_options: optionsWith(where, JSON.parse(value)) }, { local: true });
  if (prepared.ok) return 'accepted';
  const { failure } = prepared;
  if (failure.code !== 'invalid_options') return failure.code;
  return failure.details.map((fault) => `${fault.path}: ${fault.message}`).join(' && ');
}

test.each(rows)('$where as $value', (row) => {
  expect(violationsFor(row)).toBe(row.violations);
});

test('the table has all rows', () => {
  expect(rows.length).toBeGreaterThanOrEqual(FEWEST_ROWS);
});
