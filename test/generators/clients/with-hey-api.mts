import assert from 'node:assert/strict';
import { client } from '../generated/hey-api/client.gen.ts';
import * as svc from '../generated/hey-api/index.ts';

const [baseUrl = '', key = ''] = process.argv.slice(2);
client.setConfig({ baseUrl, auth: key });

const steps: Readonly<Record<string, () => Promise<void>>> = {
  'classes, enums, optionals, maps and literals': async () => {
    const { data } = await svc.readPerson({ body: { text: 'Ada', mood: 'SAD', people: [ada] } });
    assert.ok(data);
    const { mood, kind, age, scores, address }: svc.Person = data;
    assert.deepEqual({ mood, kind, age, math: scores['math'], zip: address?.zip }, EXPECTED);
  },
  'an optional value can be absent or null': async () => {
    assert.ok((await svc.readPerson({ body: { text: 'Ada' } })).data);
    assert.ok((await svc.readPerson({ body: { text: 'Ada', people: null, mood: null } })).data);
  },
  recursion: async () => {
    const tree: svc.TreeInput = { label: 'a', children: [{ label: 'b', children: [] }], owner: { trees: [] } };
    const { data } = await svc.grow({ body: { tree } });
    assert.equal(data?.children[0]?.label, 'leaf');
  },
  'a literal distinguishes the members of a union': async () => {
    const { data } = await svc.draw({ body: { shapes: [{ shape: 'square', side: 1 }], limit: 3 } });
    assert.ok(data);
    assert.deepEqual(
      data.map((one) => (one.shape === 'circle' ? one.radius : one.side)),
      [2, 1.5],
    );
  },
  'a recursive alias': async () => {
    const value: svc.Anyhow = [1, { a: null }];
    const { data } = await svc.anything({ body: { value } });
    assert.deepEqual(data, { a: [1, 2.5, true, null, 'x'], b: { c: {} } });
  },
  'maps with keys from an enum': async () => {
    const { data } = await svc.countMoods({ body: { weights: { HAPPY: 0.5 } } });
    assert.deepEqual(data, { HAPPY: 2, SAD: 1 });
  },
  checks: async () => {
    const { data } = await svc.takeOrder({ body: { text: '500' } });
    assert.equal(data?.amount.value, 500);
    assert.equal(data.amount.checks.small.status, 'failed');
  },
  media: async () => {
    const picture: svc.SvcImage = { url: 'https://example.com/a.png' };
    const sounds: svc.SvcAudio[] = [{ base64: 'AAAA', media_type: 'audio/wav' }];
    const { data } = await svc.describe({ body: { picture, sounds } });
    assert.equal(data, 'I would rather not.');
  },
  'an argument that does not fit is 400, typed': async () => {
    // @ts-expect-error -- a number is not a string
    const { error, response } = await svc.refuse({ body: { text: 5 } });
    assert.deepEqual([response?.status, error?.error, error?.details?.[0]?.path], [400, 'invalid_argument', 'text']);
  },
  'a reply that does not match is a typed 500': async () => {
    const { error, response } = await svc.refuse({ body: { text: 'x' } });
    assert.deepEqual([response?.status, error?.error], [500, 'validation_failure']);
  },
  'a wrong key is a typed 403': async () => {
    const { error, response } = await svc.refuse({ body: { text: 'x' }, auth: 'wrong' });
    assert.deepEqual([response?.status, error?.error], [403, 'Unauthorized']);
  },
  'a stream, as events of the declared type': async () => {
    const { stream } = await svc.streamFollow({ body: { topic: 'x' } });
    const events: svc.FollowStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    const last = events.at(-1);
    assert.ok(last !== undefined && 'final_result' in last);
    assert.deepEqual(last.final_result, { title: 'A title', text: 'one two three four five six', total: 7 });
    assert.ok(events.length > 3);
    assert.ok(events.slice(0, -1).every((event) => 'partial_result' in event && event.partial_result.total === 7));
  },
};

const EXPECTED = { mood: 'HAPPY', kind: 'human', age: null, math: 10, zip: null };
const ada: svc.PersonInput = {
  name: 'Ada',
  height: 1.7,
  awake: true,
  mood: 'HAPPY',
  tags: [],
  scores: {},
  kind: 'human',
};

// The compiler must refuse all of these.
export const refused = [
  // @ts-expect-error -- not a value of the enum
  (): unknown => svc.readPerson({ body: { text: 'x', mood: 'ANGRY' } }),
  // @ts-expect-error -- not one of the literals
  (): unknown => svc.draw({ body: { shapes: [], limit: 4 } }),
  // @ts-expect-error -- an argument is missing
  (): unknown => svc.follow({ body: {} }),
];

for (const [name, step] of Object.entries(steps)) {
  await step();
  console.log(name);
}
