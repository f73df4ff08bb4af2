import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { DEFAULT_LIMITS } from '../../../src/runtime/model/http/exchange-clock.ts';
import { createOfflineClient } from '../../../src/runtime/model/offline/offline-client.ts';
import {
  MEDIA_URL_HANDLINGS,
  RESPONSE_TYPES,
  readClientOptions,
} from '../../../src/runtime/model/options/client-options.ts';
import { OptionReader } from '../../../src/runtime/model/options/option-reader.ts';
import { awsBedrock } from '../../../src/runtime/model/providers/aws-bedrock.ts';
import { HTTP_PROVIDERS } from '../../../src/runtime/model/providers/providers.ts';
import { vertexAi } from '../../../src/runtime/model/providers/vertex-ai.ts';
import { canRetry } from '../../../src/runtime/model/strategies/retry.ts';
import { clientFailure } from '../../../src/runtime/model/attempt-failure.ts';
import { LEGACY_PROVIDERS, PROVIDERS } from '../../../src/schema/client.ts';
import { retryWaits } from '../../support/retry-waits.ts';
import { compileText } from '../../support/test-runtime.ts';

const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');

/** The cells of the table row that begins with this name. */
function row(name: string): readonly string[] {
  const line = page.split('\n').find((each) => each.startsWith(`| \`${name}\``) || each.includes(`, \`${name}\` |`));
  return line?.split('|').map((cell) => cell.trim()) ?? [];
}

test.each(PROVIDERS)('the page has the provider %s, its address and the variable of its key', (name) => {
  const [, , address = '', key = ''] = row(name);
  const provider = HTTP_PROVIDERS[name];
  expect(address).not.toBe('');
  if (provider?.defaultUrl !== undefined) expect(address).toBe(`\`${provider.defaultUrl}\``);
  if (provider?.keyVariable !== undefined) expect(key).toBe(`\`${provider.keyVariable}\``);
});

/** Remembers which options were asked for. */
class RecordingReader extends OptionReader {
  readonly taken = new Set<string>();

  override take(key: string): JsonValue | undefined {
    this.taken.add(key);
    return super.take(key);
  }
}

test.each(Object.entries(HTTP_PROVIDERS))('the page has every option that %s reads', (_name, provider) => {
  const reader = new RecordingReader(new Map());
  provider.connect(readClientOptions(reader), reader, () => undefined);
  expect(reader.taken.size).toBeGreaterThan(10);
  for (const option of reader.taken) expect(page).toContain(`\`${option}\``);
});

test('the page has every option of the clients that are not asked over HTTP, and every old name', () => {
  const reader = new RecordingReader(new Map());
  createOfflineClient('A', reader, { answer: () => '' });
  const names = [...reader.taken, 'strategy', 'start', ...Object.keys(LEGACY_PROVIDERS)];
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) expect(page).toContain(`\`${name}\``);
});

test('the page names every variable of the clouds', () => {
  const variables = [...(awsBedrock.variables ?? []), ...(vertexAi.variables ?? [])];
  expect(variables.length).toBeGreaterThan(20);
  for (const variable of variables.filter((each) => each !== 'HOME')) expect(page).toContain(`\`${variable}\``);
});

test.each([
  ['connect_timeout_ms', DEFAULT_LIMITS.connectMs],
  ['time_to_first_token_timeout_ms', DEFAULT_LIMITS.firstTokenMs],
  ['idle_timeout_ms', DEFAULT_LIMITS.idleMs],
  ['request_timeout_ms', DEFAULT_LIMITS.requestMs],
])('the page has the default of %s', (name, limit) => {
  expect(row(name)[2]).toBe(String(limit));
});

test('the page has every choice of the options that have choices', () => {
  for (const choice of [...RESPONSE_TYPES, ...MEDIA_URL_HANDLINGS]) expect(page).toContain(`\`${choice}\``);
});

test('the page says which statuses are retried', () => {
  const failure = clientFailure('A', 'failed');
  const retried = Array.from({ length: 200 }, (_, index) => 400 + index).filter((upstreamStatus) =>
    canRetry({ failure, retry: 'status', upstreamStatus }, {}),
  );
  expect(retried.filter((status) => status < 500)).toEqual([408, 409, 425, 429]);
  expect(retried).toHaveLength(104);
  expect(page).toContain('408, 409, 425, 429 and 500 to 599');
});

test('the definitions on the page compile, and their policy waits as it says', async () => {
  const blocks = [...page.matchAll(/```baml\n(.*?)```/gsu)].map(([, code = '']) => code);
  expect(blocks).toHaveLength(3);
  const program = compileText(`${blocks.join('\n')}
client<llm> Other {
  provider offline
}
function F() -> string {
  client Robust
  prompt #"hello"#
}`);
  const [policy] = program.retryPolicies;
  expect(policy && (await retryWaits(policy)).waits).toEqual([300, 450, 675]);
  expect(page).toContain('300, 450, 675 ms');
});
