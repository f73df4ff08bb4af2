import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { ContentEncoding } from './response-head.ts';

/** One static file of a page. */
export interface StaticAsset {
  readonly contentType: string;
  /** What a browser allows the page. */
  readonly contentSecurityPolicy: string;
  /** A strong validator of the plain form, without its quotes. */
  readonly tag: string;
  /** Compressed forms that are available, the smallest first. */
  readonly encodings: readonly ContentEncoding[];
  /** Returns the same buffer for every request. */
  bytes(encoding: ContentEncoding | undefined): Uint8Array;
}

export const HTML = 'text/html; charset=utf-8';
export const CSS = 'text/css; charset=utf-8';
export const SCRIPT = 'text/javascript; charset=utf-8';
export const SVG = 'image/svg+xml';

/** Reads a file: its compressed forms, if a build created them. Throws when it is missing. */
export function loadAsset(file: string, contentType: string, contentSecurityPolicy: string): StaticAsset {
  const head = { contentType, contentSecurityPolicy };
  if (!existsSync(`${file}.gz`)) {
    const plain = readFileSync(file);
    return { ...head, tag: tagOf(plain), encodings: [], bytes: () => plain };
  }
  const gzip = readFileSync(`${file}.gz`);
  const br = readFileSync(`${file}.br`);
  // Nearly all clients accept compression, so most workers never need the uncompressed form.
  let plain: Uint8Array | undefined;
  return {
    ...head,
    tag: tagOf(gzip),
    encodings: ['br', 'gzip'],
    bytes(encoding) {
      if (encoding === 'br') return br;
      return encoding === 'gzip' ? gzip : (plain ??= gunzipSync(gzip));
    },
  };
}

/** Returns a validator of the bytes, for an etag. */
export function tagOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url').slice(0, 22);
}
