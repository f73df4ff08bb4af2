import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { isJsonObject } from '../../../src/base/json.ts';
import type { MediaPart, MediaSource, Message } from '../../../src/schema/message.ts';
import { providerNamed, type Provider } from '../../../src/schema/providers/providers.ts';
import type { MediaKind } from '../../../src/schema/type.ts';
import { ask, clientDefinition, makeClient } from '../../support/ask-client.ts';
import { status } from '../../support/fake-provider.ts';
import { fakeModels } from '../../support/fake-models.ts';

const TYPES = { image: 'image/png', audio: 'audio/wav', pdf: 'application/pdf', video: 'video/mp4' };

/**
 * The part that each provider receives for each kind of media. A line has the provider, options (or `-`), the kind, the source,
 * and the part, or the reason of a refusal. A source is a URL to download or base64, either with its
 * media type, or a literal URL.
 */
const table = readFileSync(new URL('media.txt', import.meta.url), 'utf8').split('\n');
const rows = table.filter((line) => line.includes(' | ')).map(rowOf);

type Row = readonly [provider: string, options: string, kind: MediaKind, source: string, sent: string];

function rowOf(line: string): Row {
  const [provider = '', options = '', kind = '', source = '', sent = ''] = line.split(' | ');
  if (!Object.hasOwn(TYPES, kind)) throw new Error(`"${kind}" is not a kind of media`);
  return [provider, options, kind as MediaKind, source, sent];
}

/** An empty table must not pass. */
const FEWEST_ROWS = 100;

const { fake, services } = await fakeModels();

beforeAll(() => {
  fake.answer(status(500, {}));
  for (const [kind, type] of Object.entries(TYPES)) {
    fake.at(kind, status(200, 'hi', { 'content-type': type === 'audio/wav' ? 'audio/x-wav' : type }));
  }
});

function sourceOf(kind: MediaKind, source: string): MediaSource {
  if (/^(?:data|s3):/u.test(source)) return { kind: 'url', url: source };
  const type = source.includes('type') ? { mediaType: TYPES[kind] } : {};
  return source.startsWith('url')
    ? { kind: 'url', url: `${fake.url}/x/${kind}`, ...type }
    : { kind: 'base64', data: 'aGk=', ...type };
}

function providerOf(name: string): Provider {
  const provider = providerNamed(name);
  if (provider !== undefined) return provider;
  throw new Error(`"${name}" is not a provider`);
}

/** The first part of the first message, at the provider's place for it. */
function firstPart(body: unknown): unknown {
  if (!isJsonObject(body)) return body;
  const turns = body['messages'] ?? body['input'] ?? body['contents'];
  const turn: unknown = Array.isArray(turns) ? turns[0] : undefined;
  const parts = isJsonObject(turn) ? (turn['content'] ?? turn['parts']) : undefined;
  return Array.isArray(parts) ? (parts[0] as unknown) : parts;
}

async function sentFor([provider, options, kind, source]: Row): Promise<string> {
  fake.clear();
  const own = options === '-' ? {} : { media_url_handler: { [kind]: options } };
  const needed = { base_url: fake.url, model: 'm', region: 'r', api_key: 'k', ...own };
  const part: MediaPart = { kind: 'media', media: kind, source: sourceOf(kind, source) };
  const messages: readonly Message[] = [{ role: 'user', parts: [part] }];
  const { result } = await ask(makeClient(clientDefinition(providerOf(provider), needed), services), { messages });
  const posted = fake.requests.find((request) => request.method === 'POST');
  if (posted !== undefined) return JSON.stringify(firstPart(posted.json)).replaceAll(fake.url, 'URL');
  return result.ok ? 'nothing was sent' : result.failure.failure.message.replace('The client "Tested" ', '');
}

test.each(rows)('%s with %s receives %s as %s', async (...row) => {
  expect(await sentFor(row)).toBe(row[4]);
});

test('the table has all rows', () => {
  expect(rows.length).toBeGreaterThanOrEqual(FEWEST_ROWS);
});
