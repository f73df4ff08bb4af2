import { hash } from 'node:crypto';
import { dirname, extname, join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
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

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files of a page, and what browsers allow it. */
interface PageFiles {
  readonly files: readonly string[];
  /** Returns the path of a file on disk. */
  readonly locate: (file: string) => string;
  readonly contentSecurityPolicy: string;
}

/** Reads the files of a page, by request path: its HTML file is at `path`, and the others are below it. */
export function loadPage(
  path: string,
  { files, locate, contentSecurityPolicy }: PageFiles,
): ReadonlyMap<string, StaticAsset> {
  return new Map(
    files.map((file) => {
      const contentType = CONTENT_TYPES[extname(file)] ?? '';
      return [
        file.endsWith('.html') ? path : `${path}/${file}`,
        loadAsset(locate(file), contentType, contentSecurityPolicy),
      ];
    }),
  );
}

/** Reads a file: its compressed forms, if a build created them. Throws when it is missing. */
function loadAsset(file: string, contentType: string, contentSecurityPolicy: string): StaticAsset {
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
function tagOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url').slice(0, 22);
}

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

/**
 * The content security policy of every asset: scripts and connections of this server only. Swagger UI uses inline styles and
 * images in data URLs.
 */
export const DOCS_CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'";

/** No other file in these folders is served. */
const FILES: readonly string[] = [
  'docs.html',
  'docs.css',
  'docs.js',
  'favicon.svg',
  'folded-errors-plugin.js',
  'group-by-function.js',
  'live-answers-plugin.js',
  'live-answers.js',
  'plain-text-plugin.js',
  'server-sent-events.js',
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'theme.js',
  'with-usage.js',
];

/**
 * Reads the files of the documentation page, by request path (`/docs`, `/docs/swagger-ui.css`, …): less than 1 MB, since a
 * build compresses them. Their links are relative, so a path prefix works, but the page must not be served at `/docs/`. Throws
 * when a file is missing, which a build prevents.
 */
export function loadDocsAssets(): ReadonlyMap<string, StaticAsset> {
  return loadPage('/docs', { files: FILES, locate: fileOf, contentSecurityPolicy: DOCS_CONTENT_SECURITY_POLICY });
}

/** A build copies all files to `dist/assets/docs`; a run from sources reads them where they come from. */
function fileOf(file: string): string {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return fileURLToPath(new URL(`../assets/docs/${file}`, here));
  if (!file.startsWith('swagger-ui')) return fileURLToPath(new URL(`docs/page/${file}`, here));
  return join(dirname(createRequire(here).resolve('swagger-ui-dist/package.json')), file);
}
