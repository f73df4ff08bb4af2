import { afterAll, beforeAll, expect } from 'vitest';
import { PATTERNS as REPLIES, schemaNamed, type Schema } from '../runtime/reply/growth-cases.ts';
import { HOSTILE_DEFINITIONS, HOSTILE_TYPES, OBJECTS, PATTERNS } from '../runtime/reply/hostile-patterns.ts';
import { chatEvent, reply, sse } from '../support/fake-provider.ts';
import { AUTHORITY_FILE } from '../support/certificates.ts';
import { HTTP2_FAULTS } from '../support/http2-faults.ts';
import { readStream } from '../support/sse.ts';
import { TlsProvider } from '../support/tls-provider.ts';
import { onBothTransports } from './support/on-both-transports.ts';
import type { Answer, AttackedServer } from './support/attacked-server.ts';

const CLIENT = `
client<llm> Model {
  provider openai-generic
  options {
    model hostile
    base_url env.PROVIDER_URL
  }
}
`;
const REPLY_BYTES = 100_000;
const STREAMED_BYTES = 20_000;
/** Larger than the replies that svc parses in the event loop. */
const LARGE_BYTES = 250_000;

/** A function `Read<n>` for each return type. */
function functionsOf(types: readonly string[]): string {
  const functions = types.map(
    (type, at) => `function Read${at}(topic: string) -> ${type} {\n  client Model\n  prompt #"{{ topic }}"#\n}\n`,
  );
  return CLIENT + functions.join('');
}

function repeated(pattern: string, bytes: number): string {
  return pattern.repeat(Math.ceil(bytes / pattern.length));
}

/** `value`, or the code of the failure. */
function outcomeOf({ status, body }: Answer): unknown {
  return status === 200 ? 'value' : (JSON.parse(body) as { readonly error: unknown }).error;
}

const TYPED = expect.stringMatching(/^(?:value|validation_failure)$/) as unknown;

const HOSTILE = { files: { 'main.svc': HOSTILE_DEFINITIONS + functionsOf(HOSTILE_TYPES) } };

onBothTransports(
  'replies that repeat a pattern over 100 KB are values or validation failures, for functions of eight types',
  HOSTILE,
  async (server) => {
    for (const pattern of [...PATTERNS, ...OBJECTS]) {
      server.model.answer(reply(repeated(pattern, REPLY_BYTES)));
      for (const at of HOSTILE_TYPES.keys()) {
        const answer = await server.call(`Read${at}`, { topic: 'a' });
        expect(outcomeOf(answer), `${pattern} as ${HOSTILE_TYPES[at]}`).toEqual(TYPED);
      }
    }
  },
);

onBothTransports('streams of the same patterns end with a value or an error', HOSTILE, async (server) => {
  for (const pattern of [...PATTERNS, ...OBJECTS]) {
    server.model.answer(reply(repeated(pattern, STREAMED_BYTES), { chunkSize: 100 }));
    for (const at of [0, 1, 4]) {
      const { messages } = await readStream(`${server.url}/stream/Read${at}`, { topic: 'a' });
      const last = messages.at(-1)?.data;
      expect(Object.keys(last as object), `${pattern} as ${HOSTILE_TYPES[at]}`).toContainEqual(
        expect.stringMatching(/^(?:final_result|error)$/),
      );
    }
  }
});

/** Types with the most ways to read a value. */
const HEAVY: readonly Schema[] = ['12 all-optional classes', '12 classes of one field', 'JSON alias'].map(schemaNamed);
const HARD_REPLIES = REPLIES.filter(({ name }) => /^(?:chains|trees) of known keys$/.test(name));

onBothTransports(
  'hard replies of recursive unions, 60 KB and 250 KB, fail at most their own calls',
  { files: Object.fromEntries(HEAVY.map((schema, at) => [`heavy${at}.svc`, heavyFile(schema, at)])) },
  async (server) => {
    for (const [at, schema] of HEAVY.entries()) {
      for (const pattern of HARD_REPLIES) {
        const replies = [60_000, LARGE_BYTES].map((size) => pattern.reply(schema, size));
        await expectOtherCallsServed(server, `Heavy${at}`, replies);
      }
    }
  },
);

/** Names carry the number of the file: the schemas use the same names for their classes. */
function heavyFile({ definitions, returns }: Schema, at: number): string {
  const numbered = (text: string): string => text.replaceAll(/\b[A-Z]\w*/gu, (name) => `${name}F${at}`);
  const client = at === 0 ? functionsOf(['string[]']) : '';
  return `${client}${numbered(definitions)}
function Heavy${at}(topic: string) -> ${numbered(returns)} {
  client Model
  prompt #"Heavy {{ topic }}"#
}
`;
}

async function expectOtherCallsServed(
  server: AttackedServer,
  heavy: string,
  replies: readonly string[],
): Promise<void> {
  let turn = 0;
  server.model.answer((request, wire) => {
    const text = request.body.includes('Heavy') ? (replies[turn++ % replies.length] ?? '') : '["light"]';
    return reply(text)(request, wire);
  });
  const attack = replies.map(() => server.call(heavy, { topic: 'a' }));
  const others = Array.from({ length: 4 }, () => server.call('Read0', { topic: 'a' }));
  expect(await Promise.all(others)).toEqual(Array.from(others, () => ({ status: 200, body: '["light"]' })));
  for (const answer of await Promise.all(attack)) expect(outcomeOf(answer), heavy).toEqual(TYPED);
}

onBothTransports(
  '100,000 brackets, as a reply and as a stream of one bracket per delta, are a failure and not a crash',
  HOSTILE,
  async (server) => {
    for (const bracket of ['[', '{"children":[', '{"a":']) {
      server.model.answer(reply(bracket.repeat(100_000)));
      expect(outcomeOf(await server.call('Read1', { topic: 'a' }))).toEqual(TYPED);
      server.model.answer(sse(Array.from({ length: 5_000 }, () => chatEvent({ content: bracket }))));
      const { messages } = await readStream(`${server.url}/stream/Read1`, { topic: 'a' });
      expect(messages.length).toBeGreaterThan(0);
    }
  },
);

onBothTransports(
  'keys of the prototype in replies are data',
  { files: { 'main.svc': functionsOf(['map<string, map<string, int>>']) } },
  async (server) => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":2}}';
    server.model.answer(reply(text));
    expect(await server.call('Read0', { topic: 'a' })).toEqual({ status: 200, body: text });
    server.model.answer(reply('{}'));
    expect(await server.call('Read0', { topic: 'a' })).toEqual({ status: 200, body: '{}' });
  },
);

let overHttp2: TlsProvider;

beforeAll(async () => {
  overHttp2 = await TlsProvider.start();
});
afterAll(() => overHttp2.close());

const FLOODS = HTTP2_FAULTS.flatMap(({ faults }) => faults).filter(({ floods }) => floods === true);

onBothTransports(
  'a provider that floods frames over HTTP/2 fails its own calls at once, and other calls are answered meanwhile',
  {
    files: {
      'main.svc': `${functionsOf(['string'])}
client<llm> Flooding {
  provider openai-generic
  options {
    model hostile
    base_url env.FLOOD_URL
  }
}
function Flood(topic: string) -> string {
  client Flooding
  prompt #"{{ topic }}"#
}
`,
    },
    get env() {
      return { FLOOD_URL: `${overHttp2.url}/v1`, SSL_CERT_FILE: AUTHORITY_FILE };
    },
  },
  async (server) => {
    server.model.answer(reply('light'));
    expect(FLOODS.length).toBeGreaterThanOrEqual(8);
    for (const { name, call } of FLOODS) {
      overHttp2.answer(call);
      const attack = [1, 2].map(() => server.call('Flood', { topic: 'a' }));
      for (let turn = 0; turn < 4; turn += 1)
        expect(await server.call('Read0', { topic: 'a' }), name).toMatchObject({ status: 200 });
      for (const { status } of await Promise.all(attack)) expect(status, name).toBe(502);
    }
  },
);
