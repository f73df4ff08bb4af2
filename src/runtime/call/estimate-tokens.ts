import { ownValue } from '../../base/json.ts';
import { possibleMembers } from '../../schema/possible-members.ts';
import type { DefinitionIndex, FunctionType } from '../../schema/program.ts';
import { MEDIA_TOKENS, type MediaTokens, type PictureTokens } from '../../schema/providers/media-tokens.ts';
import type { Provider } from '../../schema/providers/providers.ts';
import { takesMedia } from '../../schema/type-graph.ts';
import type { MediaKind, Type } from '../../schema/type.ts';

/**
 * Estimates the tokens of texts and media before a provider counts them. A limit reserves this number for a call, so it has to be
 * cheap, and too small only by a little. docs/operating.md states the errors that were measured.
 */

// --- text ------------------------------------------------------------------------------------------------------------

/** Kinds of characters. The first three are letters and digits, whose sequence matters. */
const LOWER = 0;
const UPPER = 1;
const DIGIT = 2;
const SPACE = 3;
const SIGN = 4;
const LATIN = 5;
const CYRILLIC = 6;
const ALPHABET = 7;
const INDIC = 8;
const HAN = 9;
const KANA = 10;
const HANGUL = 11;
const SURROGATE = 12;

/**
 * The tokens of one character of each kind, in hundredths: a least-squares fit to the tokenizer o200k over prose in 18 languages,
 * source code, JSON, CSV, base64 and hexadecimal digits. Older tokenizers and those of other providers need up to twice as many
 * for scripts other than Latin.
 */
const COST_OF_KIND = Uint8Array.of(13, 32, 176, 38, 101, 127, 20, 30, 33, 77, 65, 58, 75);

/** Digits, spaces and signs after one of the same kind: a tokenizer joins them. */
const COST_OF_NEXT = Uint8Array.of(13, 32, 11, 1, 7);

/** A change from one kind of letter or digit to another within a word, as in `camelCase`, base64 and `a1`. It begins a token. */
const COST_OF_CHANGE = 31;

const ASCII = 128;

const KIND_OF_ASCII = Uint8Array.from({ length: ASCII }, (_, code) => {
  if (code === 32) return SPACE;
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  return code >= 48 && code <= 57 ? DIGIT : SIGN;
});

/** The cost of each ASCII character, by the kind of the one before. A capital begins a word: `A` before `b` is no change. */
const COST_AFTER = Uint8Array.from({ length: (SIGN + 1) * ASCII }, (_, index) => {
  const before = Math.floor(index / ASCII);
  const kind = KIND_OF_ASCII[index % ASCII] ?? SIGN;
  const changes = kind <= DIGIT && before <= DIGIT && (before !== UPPER || kind === DIGIT);
  if (kind === before) return COST_OF_NEXT[kind] ?? 0;
  return (COST_OF_KIND[kind] ?? 0) + (changes ? COST_OF_CHANGE : 0);
});

function kindBeyondAscii(code: number): number {
  if (code < 0x370) return LATIN;
  if (code >= 0x400 && code < 0x530) return CYRILLIC;
  if (code < 0x900) return ALPHABET;
  if (code < 0x2000) return INDIC;
  if (code >= 0x3040 && code < 0x3100) return KANA;
  if (code >= 0xac00 && code < 0xd7b0) return HANGUL;
  if (code >= 0xd800 && code < 0xe000) return SURROGATE;
  return code < 0x2e80 ? SIGN : HAN;
}

/** The characters of a window. Windows that follow each other in a text vary less than single characters. */
const WINDOW = 64;

/** A text up to this length is read in full, which takes about 0.2 µs. */
const READ_IN_FULL = 128;

/** The windows of a long text, 4,096 characters: their share of words differs from that of the text by about 3 %. */
const MOST_WINDOWS = 64;

/** Spreads the windows, so that they do not meet the same member of each record of a list. */
const GOLDEN_RATIO = 0.618_034;

/** Estimates the tokens of a text, which can be JSON. Reads at most 4,096 characters. */
export function textTokens(text: string): number {
  const { length } = text;
  if (length <= READ_IN_FULL) return costOf(text, 0, length) / 100;
  const windows = Math.min(MOST_WINDOWS, Math.floor((READ_IN_FULL + length / 16) / WINDOW));
  const distance = (length - WINDOW) / windows;
  let cost = 0;
  for (let window = 0; window < windows; window += 1) {
    const start = Math.floor((window + ((window * GOLDEN_RATIO) % 1)) * distance);
    cost += costOf(text, start - insideEscape(text, start), start + WINDOW);
  }
  return (cost * length) / (windows * WINDOW * 100);
}

/** The number of characters of an escape that precede this position within it. */
function insideEscape(text: string, at: number): number {
  for (let back = 1; back <= 5; back += 1) {
    if (text.charCodeAt(at - back) === BACKSLASH) return text.charCodeAt(at - back + 1) === LETTER_U ? back : 0;
  }
  return 0;
}

const BACKSLASH = 92;
const LETTER_U = 117;

/** The cost of a part of a text. An escape such as `\u00e9` counts as its character. */
function costOf(text: string, start: number, end: number): number {
  let cost = 0;
  let before = SPACE;
  for (let at = start; at < end; at += 1) {
    let code = text.charCodeAt(at);
    if (code === BACKSLASH && text.charCodeAt(at + 1) === LETTER_U) {
      code = Number.parseInt(text.slice(at + 2, at + 6), 16);
      at += 5;
    }
    if (code < ASCII) {
      cost += COST_AFTER[before * ASCII + code] ?? 0;
      before = KIND_OF_ASCII[code] ?? SIGN;
    } else {
      cost += COST_OF_KIND[kindBeyondAscii(code)] ?? 0;
      before = LOWER;
    }
  }
  return cost;
}

// --- arguments with media ---------------------------------------------------------------------------------------------

const withMedia = new WeakMap<FunctionType, boolean>();

/** The arguments of a call, and the provider that it asks first. */
interface EstimatedCall {
  readonly fn: FunctionType;
  readonly args: Members;
  readonly provider: Provider;
}

/** Estimates the tokens of the arguments in a request body. */
export function argumentTokens(body: string, { fn, args, provider }: EstimatedCall, index: DefinitionIndex): number {
  let takes = withMedia.get(fn);
  if (takes === undefined) withMedia.set(fn, (takes = takesMedia(fn, index)));
  if (!takes) return textTokens(body);
  const media = new Map<unknown, MediaKind>();
  for (const { name, type } of fn.parameters) findMedia(type, ownValue(args, name), index, media);
  if (media.size === 0) return textTokens(body);
  const rest = JSON.stringify(args, (_key, value: unknown) => (media.has(value) ? undefined : value));
  const rates = MEDIA_TOKENS[provider];
  let tokens = textTokens(rest);
  for (const [value, kind] of media) tokens += mediaTokens(value as Members, kind, rates);
  return tokens;
}

/** Adds the media of a value that fits the type. An object that several members of a union accept counts as the first that it looks like. */
function findMedia(type: Type, value: unknown, index: DefinitionIndex, found: Map<unknown, MediaKind>): void {
  if (typeof value !== 'object' || value === null) return;
  switch (type.kind) {
    case 'media':
      if (isMediaValue(value)) found.set(value, type.media);
      return;
    case 'list':
      if (Array.isArray(value)) for (const item of value) findMedia(type.element, item, index, found);
      return;
    case 'map':
      for (const item of Object.values(value)) findMedia(type.value, item, index, found);
      return;
    case 'class':
      for (const field of index.classes.get(type.name)?.fields ?? []) {
        findMedia(field.type, ownValue(value as Members, field.name), index, found);
      }
      return;
    case 'alias': {
      const target = index.aliases.get(type.name)?.type;
      if (target !== undefined) findMedia(target, value, index, found);
      return;
    }
    case 'union': {
      const possible = possibleMembers(type, value, index);
      const member = possible.find((one) => one.kind === 'media' && isMediaValue(value)) ?? possible.find(isNoMedia);
      if (member !== undefined) findMedia(member, value, index, found);
      return;
    }
    default:
  }
}

type Members = Readonly<Record<string, unknown>>;

const MEDIA_KEYS: ReadonlySet<string> = new Set(['url', 'base64', 'media_type']);

function isMediaValue(value: object): boolean {
  const { url, base64 } = value as Members;
  return (
    (typeof url === 'string' || typeof base64 === 'string') && Object.keys(value).every((key) => MEDIA_KEYS.has(key))
  );
}

function isNoMedia(type: Type): boolean {
  return type.kind !== 'media';
}

/** The bytes that media behind a URL are assumed to have. The provider reads them later, or svc does. */
const BYTES_BEHIND_URL: Readonly<Record<MediaKind, number>> = {
  image: 0,
  audio: 1_000_000,
  pdf: 500_000,
  video: 10_000_000,
};

/** A picture of unknown size. */
const USUAL_PICTURE: Size = { width: 1_024, height: 1_024 };

function mediaTokens(value: Members, kind: MediaKind, rates: MediaTokens): number {
  const data = inlineData(value);
  if (kind === 'image')
    return pictureTokens((data === undefined ? undefined : pictureSize(data)) ?? USUAL_PICTURE, rates.image);
  const bytes = data === undefined ? BYTES_BEHIND_URL[kind] : (data.length * 3) / 4;
  return bytes / rates.bytesOfToken[kind];
}

/** The base64 of an argument; undefined for a URL. */
function inlineData({ base64, url }: Members): string | undefined {
  if (typeof url !== 'string') return typeof base64 === 'string' ? base64 : undefined;
  return /^data:/iu.test(url) ? url.slice(url.indexOf(',') + 1) : undefined;
}

/** Scales a picture as the provider does, and counts the squares that cover it. */
export function pictureTokens({ width, height }: Size, rates: PictureTokens): number {
  const { longest = Infinity, shortest = Infinity, square, tokens, base = 0, most = Infinity, whole = 0 } = rates;
  if (Math.max(width, height) <= whole) return base + tokens;
  let scale = Math.min(1, longest / Math.max(width, height));
  scale = Math.min(scale, shortest / Math.min(width, height));
  const side =
    rates.crop === undefined
      ? square
      : Math.min(square, Math.max(256, Math.floor(Math.min(width, height) / rates.crop)));
  const squares = Math.ceil((width * scale) / side) * Math.ceil((height * scale) / side);
  return base + tokens * Math.min(most, squares);
}

// --- the size of a picture --------------------------------------------------------------------------------------------

/** In pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The segments before the frame of a JPEG: metadata, profiles, thumbnails. Cameras write fewer than ten. */
const MOST_SEGMENTS = 64;

/** Reads the size of a PNG, GIF, WebP or JPEG from its header; undefined for other formats. `data`: base64. Decodes about 40 bytes. */
export function pictureSize(data: string): Size | undefined {
  const head = Buffer.from(data.slice(0, 40), 'base64');
  if (head.length < 30) return undefined;
  const magic = head.toString('latin1', 0, 16);
  if (magic.startsWith('\x89PNG')) return sizeOf(head.readUInt32BE(16), head.readUInt32BE(20));
  if (magic.startsWith('GIF8')) return sizeOf(head.readUInt16LE(6), head.readUInt16LE(8));
  if (magic.startsWith('\xff\xd8')) return jpegSize(data);
  if (!magic.startsWith('RIFF') || !magic.startsWith('WEBP', 8)) return undefined;
  if (magic.endsWith('VP8X')) return sizeOf(head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1);
  if (magic.endsWith('VP8 ')) return sizeOf(head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff);
  const bits = head.readUInt32LE(21);
  return sizeOf((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
}

function sizeOf(width: number, height: number): Size | undefined {
  return width > 0 && height > 0 ? { width, height } : undefined;
}

/** Follows the lengths of segments to the one that describes the frame (ITU-T T.81, B.2.2). */
function jpegSize(data: string): Size | undefined {
  let at = 2;
  for (let segment = 0; segment < MOST_SEGMENTS; segment += 1) {
    const bytes = bytesAt(data, at, 9);
    if (bytes.length < 9 || bytes[0] !== 0xff) return undefined;
    const marker = bytes[1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return sizeOf(bytes.readUInt16BE(7), bytes.readUInt16BE(5));
    // Any number of fill bytes can precede a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(2);
  }
  return undefined;
}

/** Decodes these bytes of base64 without line breaks. */
function bytesAt(data: string, at: number, length: number): Buffer {
  const skipped = at % 3;
  const start = ((at - skipped) / 3) * 4;
  return Buffer.from(data.slice(start, start + Math.ceil((skipped + length) / 3) * 4), 'base64').subarray(
    skipped,
    skipped + length,
  );
}
