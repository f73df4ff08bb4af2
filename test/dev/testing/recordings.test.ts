import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Recordings, type RecordingKey } from '../../../src/dev/testing/recordings.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-recordings-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const asIs = (text: string): string => text;
const masking = (text: string): string => text.replaceAll('s3cret', '***');

function keyOf(text: string, parts: Partial<RecordingKey> = {}): RecordingKey {
  return { functionName: 'F', client: 'C', prompt: [{ role: 'user', parts: [{ kind: 'text', text }] }], ...parts };
}

const REPLY = { text: 'hello', latencyMs: 12, model: 'm', inputTokens: 3, outputTokens: 4 };

test('a file is readable: it has the prompt and the replies', () => {
  new Recordings(folder, asIs).write(keyOf('a'), 0, REPLY);
  const [name = ''] = readdirSync(folder);
  expect(name).toMatch(/^F\.C\.[0-9a-f]{16}\.json$/u);
  expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toEqual({
    format: 1,
    function: 'F',
    client: 'C',
    prompt: [{ role: 'user', parts: [{ text: 'a' }] }],
    replies: [{ text: 'hello', latency_ms: 12, model: 'm', input_tokens: 3, output_tokens: 4 }],
  });
});

test.each([
  ['another prompt', keyOf('b'), 'the prompt of the function "F" with the client "C" is not one of those in'],
  [
    'another client',
    keyOf('a', { client: 'openai/gpt-4o' }),
    'has no reply for the function "F" with the client "openai/gpt-4o"',
  ],
  ['another function', keyOf('a', { functionName: 'G' }), 'has no reply for the function "G"'],
  ['another role', keyOf('a', { prompt: [{ role: 'system', parts: [{ kind: 'text', text: 'a' }] }] }), 'has changed'],
])('%s is not recorded', (_what, key, message) => {
  new Recordings(folder, asIs).write(keyOf('a'), 0, REPLY);
  const read = new Recordings(folder, asIs).read(key, 0);
  expect(read).toEqual({ ok: false, failure: expect.stringContaining(message) });
  expect(read).toEqual({ ok: false, failure: expect.stringMatching(/^Not recorded: /u) });
});

test('the replies of repetitions are kept in order, and used in turn', () => {
  const recordings = new Recordings(folder, asIs);
  recordings.write(keyOf('a'), 1, { ...REPLY, text: 'second' });
  recordings.write(keyOf('a'), 0, { ...REPLY, text: 'first' });
  const texts = [0, 1, 2].map((repetition) => {
    const read = new Recordings(folder, asIs).read(keyOf('a'), repetition);
    return read.ok ? read.value.text : read.failure;
  });
  expect(texts).toEqual(['first', 'second', 'first']);
});

test('a new run replaces the replies of an earlier one', () => {
  const earlier = new Recordings(folder, asIs);
  earlier.write(keyOf('a'), 0, REPLY);
  earlier.write(keyOf('a'), 1, REPLY);
  new Recordings(folder, asIs).write(keyOf('a'), 0, { ...REPLY, text: 'new' });
  expect(readdirSync(folder)).toHaveLength(1);
  expect(new Recordings(folder, asIs).read(keyOf('a'), 1)).toMatchObject({ value: { text: 'new' } });
});

test('files contain no credentials, and machines without them find the replies to the masked prompt', () => {
  new Recordings(folder, masking).write(keyOf('my s3cret "key"'), 0, { ...REPLY, text: 'it is s3cret' });
  const [name = ''] = readdirSync(folder);
  expect(readFileSync(join(folder, name), 'utf8')).not.toContain('s3cret');
  expect(new Recordings(folder, asIs).read(keyOf('my *** "key"'), 0)).toMatchObject({ value: { text: 'it is ***' } });
});

function image(data: string): RecordingKey {
  return keyOf('', {
    prompt: [
      {
        role: 'user',
        parts: [
          { kind: 'media', media: 'image', source: { kind: 'base64', data, mediaType: 'image/png' } },
          { kind: 'media', media: 'pdf', source: { kind: 'url', url: 'https://example.com/a.pdf' } },
        ],
      },
    ],
  });
}

test('media is recorded by its digest', () => {
  const recordings = new Recordings(folder, asIs);
  recordings.write(image('AAAA'), 0, REPLY);
  expect(recordings.read(image('AAAA'), 0)).toMatchObject({ ok: true });
  expect(recordings.read(image('AAAB'), 0)).toMatchObject({ ok: false });
  const [name = ''] = readdirSync(folder);
  const { prompt } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { prompt: unknown };
  expect(prompt).toEqual([
    {
      role: 'user',
      parts: [
        { image: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/u), bytes: 3, media_type: 'image/png' } },
        { pdf: { url: 'https://example.com/a.pdf' } },
      ],
    },
  ]);
});

test.each([
  '',
  '{}',
  'null',
  '{"format": 2, "replies": []}',
  '{"format": 1, "replies": [{"text": 1}]}',
  '{"format": 1, "replies": []}',
])('the file %j is refused with its path', (content) => {
  const recordings = new Recordings(folder, asIs);
  recordings.write(keyOf('a'), 0, REPLY);
  const [name = ''] = readdirSync(folder);
  writeFileSync(join(folder, name), content);
  expect(recordings.read(keyOf('a'), 0)).toEqual({ ok: false, failure: expect.stringContaining(join(folder, name)) });
});
