import { decodeOnce, plainText, type DecodedText } from './decoded-text.ts';

/** A sequence of bytes that reveals a part of a secret. */
export interface SecretForm {
  /** One character for each byte, folded. */
  readonly folded: string;
  /** The bytes before and after it can contain some bits of the secret: they are base64 digits. */
  readonly inBase64: boolean;
}

/**
 * The length of the overlapping pieces of long forms. The matcher then also finds a part of a secret, alone or at the end of
 * a truncated text.
 */
const PIECE = 16;

/** Base64 or hexadecimal digits of a shorter secret would match ordinary words and numbers. */
const SHORTEST_ENCODED = 6;

/** Texts nest encodings: a URL in JSON in a line of JSON. */
export const MOST_LEVELS = 5;

/**
 * The forms of a secret: plain, in base64 at any offset, and in hexadecimal. Other encodings are decoded in the text.
 */
export function formsOf(secret: string): readonly SecretForm[] {
  const forms: SecretForm[] = [];
  for (const value of closure(secret)) forms.push(...pieces(foldBytes(value), false));
  if (Buffer.byteLength(secret) < SHORTEST_ENCODED) return forms;
  for (const source of new Set([secret, inJson(secret), inUrl(secret)])) {
    const bytes = Buffer.from(source);
    for (const digits of [0, 1, 2].map((offset) => base64At(bytes, offset))) {
      forms.push(...pieces(foldBytes(Buffer.from(digits)), true));
    }
    const hex = bytes.toString('hex');
    for (const digits of [hex, hex.toUpperCase()]) forms.push(...pieces(foldBytes(Buffer.from(digits)), false));
  }
  return forms;
}

/** A secret that looks encoded itself is decoded together with the text around it. */
function closure(secret: string): readonly Uint8Array[] {
  const values: Uint8Array[] = [];
  let level: DecodedText | undefined = plainText(secret, 0, secret.length);
  for (let count = 0; level !== undefined && count < MOST_LEVELS; count += 1) {
    values.push(level.bytes.subarray(0, level.length));
    level = decodeOnce(level);
  }
  return values;
}

/** The base64 digits that only these bytes decide when `offset` bytes precede them in the encoded text. */
function base64At(bytes: Uint8Array, offset: number): string {
  const digits = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return digits.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function inJson(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}

/** A secret with a lone surrogate cannot be encoded, so it has no form in a URL. */
function inUrl(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    return secret;
  }
}

function pieces(folded: string, inBase64: boolean): readonly SecretForm[] {
  if (folded.length <= PIECE) return folded === '' ? [] : [{ folded, inBase64 }];
  const found: SecretForm[] = [];
  for (let start = 0; start + PIECE < folded.length; start += PIECE) {
    found.push({ folded: folded.slice(start, start + PIECE), inBase64 });
  }
  found.push({ folded: folded.slice(-PIECE), inBase64 });
  return found;
}

/** The fold of bytes that comparisons skip. */
export const SKIPPED = 0;

/**
 * Folds bytes that encodings exchange: `+` and `-`, `/` and `_` are the same digits in the two alphabets of base64, and
 * forms write a space as `+`. Line breaks are skipped, since PEM and MIME add them.
 */
export const FOLD = Uint8Array.from({ length: 256 }, (_, byte) => {
  switch (String.fromCharCode(byte)) {
    case '\r':
    case '\n':
      return SKIPPED;
    case '+':
    case ' ':
      return 0x2d;
    case '/':
      return 0x5f;
    default:
      return byte;
  }
});

function foldBytes(bytes: Uint8Array): string {
  let folded = '';
  for (const byte of bytes) {
    const code = FOLD[byte] ?? SKIPPED;
    if (code !== SKIPPED) folded += String.fromCharCode(code);
  }
  return folded;
}
