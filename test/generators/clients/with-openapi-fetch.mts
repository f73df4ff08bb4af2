import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/openapi-typescript.ts';

type Person = components['schemas']['Person'];
type Tree = components['schemas']['TreeInput'];
type FollowEvent = components['schemas']['FollowStreamEvent'];

const [baseUrl = '', key = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { 'x-svc-api-key': key } });

const steps: Readonly<Record<string, () => Promise<void>>> = {
  'classes, enums, optionals, maps and literals': async () => {
    const { data, response } = await client.POST('/call/ReadPerson', {
      body: { text: 'Ada', mood: 'SAD', people: [ada] },
    });
    assert.ok(data);
    const { mood, kind, age, scores, address }: Person = data;
    assert.deepEqual({ mood, kind, age, math: scores['math'], zip: address?.zip }, EXPECTED);
    assert.equal(response.headers.get('x-svc-client'), 'PersonReply');
  },
  'an optional value can be absent or null': async () => {
    assert.ok((await client.POST('/call/ReadPerson', { body: { text: 'Ada' } })).data);
    assert.ok((await client.POST('/call/ReadPerson', { body: { text: 'Ada', people: null, mood: null } })).data);
  },
  recursion: async () => {
    const tree: Tree = { label: 'a', children: [{ label: 'b', children: [] }], owner: { trees: [] } };
    const { data } = await client.POST('/call/Grow', { body: { tree } });
    assert.equal(data?.children[0]?.label, 'leaf');
    assert.deepEqual(data.owner, { trees: [] });
  },
  'a literal distinguishes the members of a union': async () => {
    const { data } = await client.POST('/call/Draw', { body: { shapes: [{ shape: 'circle', radius: 1 }], limit: 2 } });
    assert.ok(data);
    assert.deepEqual(
      data.map((one) => (one.shape === 'circle' ? one.radius : one.side)),
      [2, 1.5],
    );
  },
  'a recursive alias': async () => {
    const { data } = await client.POST('/call/Anything', { body: { value: [1, { a: null }], hints: { b: 'c' } } });
    assert.deepEqual(data, { a: [1, 2.5, true, null, 'x'], b: { c: {} } });
  },
  'maps with keys from an enum': async () => {
    const { data } = await client.POST('/call/CountMoods', { body: { weights: { HAPPY: 0.5 } } });
    assert.deepEqual(data, { HAPPY: 2, SAD: 1 });
  },
  checks: async () => {
    const { data } = await client.POST('/call/TakeOrder', { body: { text: '500' } });
    assert.equal(data?.amount.value, 500);
    assert.equal(data.amount.checks.positive.status, 'succeeded');
    assert.equal(data.amount.checks.small.status, 'failed');
  },
  media: async () => {
    const body = {
      picture: { url: 'https://example.com/a.png' },
      sounds: [{ base64: 'AAAA', media_type: 'audio/wav' }],
    };
    const { data } = await client.POST('/call/Describe', { body });
    assert.equal(data, 'I would rather not.');
  },
  'options of a request': async () => {
    const body = { text: '7', __svc_options__: { client_registry: { primary: 'Seven', clients: [seven] } } };
    assert.equal((await client.POST('/call/Refuse', { body })).data, 7);
  },
  'an argument that does not fit is 400, typed': async () => {
    // @ts-expect-error -- a number is not a string
    const { error, response } = await client.POST('/call/Refuse', { body: { text: 5 } });
    assert.equal(response.status, 400);
    assert.equal(error?.error, 'invalid_argument');
    assert.equal(error.details?.[0]?.path, 'text');
  },
  'a reply that does not match is a typed 500': async () => {
    const { data, error, response } = await client.POST('/call/Refuse', { body: { text: 'x' } });
    assert.equal(data, undefined);
    assert.deepEqual(
      [response.status, error?.error, error?.raw_output],
      [500, 'validation_failure', 'I would rather not.'],
    );
  },
  'a missing credential is a typed 500': async () => {
    const { error, response } = await client.POST('/call/WithoutKey', { body: { text: 'x' } });
    assert.deepEqual([response.status, error?.error, error?.variable], [500, 'missing_credential', 'SHOP_KEY']);
  },
  'a wrong key is a typed 403': async () => {
    const headers = { 'x-svc-api-key': 'wrong' };
    const { error, response } = await client.POST('/call/Refuse', { body: { text: 'x' }, headers });
    assert.deepEqual([response.status, error?.error], [403, 'Unauthorized']);
  },
  'a stream, as events of the declared type': async () => {
    const { data } = await client.POST('/stream/Follow', { body: { topic: 'x' }, parseAs: 'stream' });
    const events = await eventsOf(data);
    const last = events.at(-1);
    assert.ok(last !== undefined && 'final_result' in last);
    assert.deepEqual(last.final_result, { title: 'A title', text: 'one two three four five six', total: 7 });
    const partials = events.flatMap((event) => ('partial_result' in event ? [event.partial_result] : []));
    assert.ok(partials.length > 2);
    assert.ok(partials.every((partial) => partial.total === 7));
    assert.ok(partials.some((partial) => partial.text.state === 'Incomplete'));
  },
};

const EXPECTED = { mood: 'HAPPY', kind: 'human', age: null, math: 10, zip: null };
const ada: components['schemas']['PersonInput'] = {
  name: 'Ada',
  height: 1.7,
  awake: true,
  mood: 'HAPPY',
  tags: [],
  scores: {},
  kind: 'human',
};
const seven = { name: 'Seven', provider: 'offline', options: { reply: '7' } };

// The compiler must refuse all of these.
export const refused = [
  // @ts-expect-error -- not a value of the enum
  (): unknown => client.POST('/call/ReadPerson', { body: { text: 'x', mood: 'ANGRY' } }),
  // @ts-expect-error -- not one of the literals
  (): unknown => client.POST('/call/Draw', { body: { shapes: [], limit: 4 } }),
  // @ts-expect-error -- an argument is missing
  (): unknown => client.POST('/call/Follow', { body: {} }),
  // @ts-expect-error -- the function does not exist
  (): unknown => client.POST('/call/Nothing', { body: {} }),
];

async function eventsOf(body: ReadableStream<Uint8Array> | null | undefined): Promise<readonly FollowEvent[]> {
  assert.ok(body);
  const text = await new Response(body).text();
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice(6)) as FollowEvent);
}

for (const [name, step] of Object.entries(steps)) {
  await step();
  console.log(name);
}
