import { gzipSync } from 'node:zlib';
import { tagOf } from './static-asset.ts';

/** A JSON document in the forms that are sent. */
export interface JsonDocument {
  readonly plain: Uint8Array;
  /** A strong validator, without its quotes. */
  readonly tag: string;
  /** Compressed on first use. */
  gzip(): Uint8Array;
}

export function jsonDocument(content: object): JsonDocument {
  const plain = Buffer.from(JSON.stringify(content));
  let compressed: Uint8Array | undefined;
  return { plain, tag: tagOf(plain), gzip: () => (compressed ??= gzipSync(plain)) };
}
