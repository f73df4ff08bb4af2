import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pictureSize, pictureTokens, textTokens } from '../../../src/runtime/call/estimate-tokens.ts';
import { MEDIA_TOKENS } from '../../../src/schema/providers/media-tokens.ts';
import type { Provider } from '../../../src/schema/providers/providers.ts';
import { testRuntime } from '../../support/test-runtime.ts';

/** Texts with the number of their tokens, counted by gpt-tokenizer 4.0.0 (o200k). */
const counts = readFileSync(new URL('token-counts.json', import.meta.url), 'utf8');
const TEXTS = Object.entries(
  JSON.parse(counts) as Readonly<Record<string, { readonly o200k: number; readonly text: string }>>,
);

/** Short texts vary most. */
const ERROR = 0.25;

function body(text: string): string {
  return JSON.stringify({ text });
}

/** As Python writes JSON. */
function escaped(json: string): string {
  return json.replace(/[^\0-\x7f]/gu, (character) =>
    [...character].map((each) => each.split('').map(unit).join('')).join(''),
  );
}

function unit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

test('there are samples of all kinds of text', () => {
  expect(TEXTS.length).toBeGreaterThanOrEqual(8);
});

test.each(TEXTS)('%s: the estimate differs from the tokenizer by at most a quarter', (_name, { o200k, text }) => {
  for (const [sample, tokens] of [
    [body(text), o200k],
    [escaped(body(text)), o200k],
    [body(text.repeat(20)), 20 * o200k],
    [body(text.repeat(500)), 500 * o200k],
  ] as const) {
    expect(textTokens(sample) / tokens).toBeGreaterThan(1 - ERROR);
    expect(textTokens(sample) / tokens).toBeLessThan(1 + ERROR);
  }
});

test('an estimate is finite and at least 0 for any text', () => {
  for (const text of ['', '\\', '\\u', '\\uzzzz', '\ud800', '\u{10ffff}', 'a'.repeat(129), '\\u00'.repeat(100)]) {
    const tokens = textTokens(text);
    expect(Number.isFinite(tokens) && tokens >= 0, JSON.stringify(text)).toBe(true);
  }
});

/** The examples in the documentation of the providers, and pictures beyond their limits. */
test.each<readonly [Provider, number, number, number]>([
  ['openai', 1_024, 1_024, 765],
  ['openai', 2_048, 4_096, 1_105],
  ['openai', 100, 100, 255],
  ['openai', 65_535, 65_535, 765],
  ['anthropic', 200, 200, 64],
  ['anthropic', 1_000, 1_000, 1_296],
  ['anthropic', 8_000, 8_000, 1_600],
  ['google-ai', 384, 384, 258],
  ['google-ai', 960, 540, 1_548],
  ['google-ai', 1_536, 1_536, 1_032],
])('%s counts a picture of %i by %i pixels as %i tokens', (provider, width, height, tokens) => {
  expect(pictureTokens({ width, height }, MEDIA_TOKENS[provider].image)).toBe(tokens);
});

const WIDTH = 1_920;
const HEIGHT = 1_080;

function png(): Buffer {
  const bytes = Buffer.alloc(100);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(WIDTH, 16);
  bytes.writeUInt32BE(HEIGHT, 20);
  return bytes;
}

function gif(): Buffer {
  const bytes = Buffer.alloc(100);
  bytes.write('GIF89a', 'latin1');
  bytes.writeUInt16LE(WIDTH, 6);
  bytes.writeUInt16LE(HEIGHT, 8);
  return bytes;
}

/** A JPEG whose frame follows metadata of this length, after fill bytes. */
function jpeg(metadata: number, frame = 0xc0): Buffer {
  const segment = Buffer.alloc(metadata + 2, 1);
  segment.writeUInt16BE(0xffe1, 0);
  segment.writeUInt16BE(metadata, 2);
  const start = Buffer.from([0xff, 0xff, 0xff, frame, 0, 17, 8, HEIGHT >> 8, HEIGHT & 255, WIDTH >> 8, WIDTH & 255, 3]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), segment, start, Buffer.alloc(50)]);
}

function webp(kind: 'VP8X' | 'VP8 ' | 'VP8L'): Buffer {
  const bytes = Buffer.alloc(100);
  bytes.write(`RIFF\0\0\0\0WEBP${kind}`, 'latin1');
  if (kind === 'VP8X') {
    bytes.writeUIntLE(WIDTH - 1, 24, 3);
    bytes.writeUIntLE(HEIGHT - 1, 27, 3);
  } else if (kind === 'VP8 ') {
    // The two highest bits are a scale.
    bytes.writeUInt16LE(WIDTH | 0x4000, 26);
    bytes.writeUInt16LE(HEIGHT | 0x8000, 28);
  } else {
    bytes[20] = 0x2f;
    bytes.writeUInt32LE((WIDTH - 1) | ((HEIGHT - 1) << 14), 21);
  }
  return bytes;
}

test.each([
  ['PNG', png()],
  ['GIF', gif()],
  ['JPEG', jpeg(16)],
  ['progressive JPEG', jpeg(17, 0xc2)],
  ['JPEG with 60 kB of metadata', jpeg(60_000)],
  ['extended WebP', webp('VP8X')],
  ['lossy WebP', webp('VP8 ')],
  ['lossless WebP', webp('VP8L')],
])('the size of a %s is read from its header', (_name, bytes) => {
  expect(pictureSize(bytes.toString('base64'))).toEqual({ width: WIDTH, height: HEIGHT });
});

test('content that is no such picture, or a part of one, has no size', () => {
  for (const bytes of [png(), gif(), jpeg(16), webp('VP8X')]) {
    expect(pictureSize(bytes.subarray(0, 9).toString('base64'))).toBeUndefined();
  }
  for (const text of ['', '!!!!', 'hello, this is a text and not a picture', '\xff\xd8'.repeat(40)]) {
    expect(pictureSize(Buffer.from(text, 'latin1').toString('base64'))).toBeUndefined();
  }
  const endless = Buffer.alloc(3_000, 0xff);
  endless[1] = 0xd8;
  expect(pictureSize(endless.toString('base64'))).toBeUndefined();
});

const DEFINITIONS = `
client<llm> Gemini {
  provider google-ai
  options { model m api_key k }
}
class Page { title string picture (image | pdf)? }
class Link { url string note string }
function Look(pages: Page[], extra: image | Link | null, sounds: map<string, audio>?) -> string {
  client Gemini
  prompt #"{{ pages }}{{ extra }}{{ sounds }}"#
}
function Read(text: string) -> string {
  client Gemini
  prompt #"{{ text }}"#
}`;

/** The estimate for these arguments. */
async function estimate(name: string, args: object): Promise<number> {
  const runtime = testRuntime(DEFINITIONS, {});
  await runtime.load(name, args);
  const prepared = runtime.prepare(name, args);
  if (!prepared.ok) throw new Error(prepared.failure.message);
  const tokens = runtime.estimateTokens(prepared.value, JSON.stringify(args));
  await runtime.close();
  return tokens;
}

const TEXT = 20;

test('media in classes, lists, maps and unions count by the rule of the provider, and their text as text', async () => {
  const picture = { base64: png().toString('base64'), media_type: 'image/png' };
  // 1,920 by 1,080 pixels are six squares of 720.
  const ofPicture = 6 * 258;
  const megabyte = { base64: Buffer.alloc(1_000_000).toString('base64'), media_type: 'audio/mpeg' };
  const data = { url: `data:image/png;base64,${png().toString('base64')}` };
  for (const [args, tokens] of [
    [{ pages: [] }, 0],
    [{ pages: [{ title: 'a', picture }] }, ofPicture],
    [{ pages: [{ title: 'a', picture }], extra: data }, 2 * ofPicture],
    [{ pages: [], extra: { url: 'https://example.org/a.png' } }, 4 * 258],
    [{ pages: [], extra: { url: 'https://example.org', note: 'a link with a note is no picture' } }, 0],
    [{ pages: [], sounds: { first: megabyte } }, 2_000],
  ] as const) {
    const estimated = await estimate('Look', args);
    expect(estimated, JSON.stringify(args).slice(0, 100)).toBeGreaterThanOrEqual(tokens);
    expect(estimated, JSON.stringify(args).slice(0, 100)).toBeLessThan(tokens + 2 * TEXT);
  }
});

test('base64 in a string is text, which the model receives', async () => {
  const text = Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * 7919) % 251)).toString('base64');
  expect(await estimate('Read', { text })).toBeGreaterThan(text.length / 4);
});
