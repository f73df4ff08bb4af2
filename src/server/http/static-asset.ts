import { hash } from 'node:crypto';
import { dirname, extname, join } from 'node:path';
import { accessSync, existsSync, readFileSync } from 'node:fs';
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
  /** Reads the file on first use, and returns the same buffer for every request. */
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

/** The files of a page, by request path: its HTML file is at `path`, and the others are below it. Throws when one is missing. */
export function loadPage(
  path: string,
  { files, locate, contentSecurityPolicy }: PageFiles,
): ReadonlyMap<string, StaticAsset> {
  return new Map(
    files.map((file) => {
      const contentType = CONTENT_TYPES[extname(file)] ?? '';
      return [
        file.endsWith('.html') ? path : `${path}/${file}`,
        assetOf(locate(file), contentType, contentSecurityPolicy),
      ];
    }),
  );
}

/**
 * A file and its compressed forms, if a build created them. It is read when someone asks for it: most workers never show a page, and the
 * largest file takes 800 KB. Throws when it is missing.
 */
function assetOf(file: string, contentType: string, contentSecurityPolicy: string): StaticAsset {
  const isCompressed = existsSync(`${file}.gz`);
  if (!isCompressed) accessSync(file);
  const encodings: readonly ContentEncoding[] = isCompressed ? ['br', 'gzip'] : [];
  const forms = new Map<ContentEncoding | undefined, Uint8Array>();
  const bytes = (encoding: ContentEncoding | undefined): Uint8Array => {
    const form = forms.get(encoding) ?? readForm(file, encoding, isCompressed);
    forms.set(encoding, form);
    return form;
  };
  let tag: string | undefined;
  return {
    contentType,
    contentSecurityPolicy,
    get tag() {
      return (tag ??= tagOf(bytes(encodings[0])));
    },
    encodings,
    bytes,
  };
}

/** Nearly all clients accept compression, so a build leaves the plain form out. */
function readForm(file: string, encoding: ContentEncoding | undefined, isCompressed: boolean): Uint8Array {
  if (encoding !== undefined) return readFileSync(`${file}.${encoding === 'br' ? 'br' : 'gz'}`);
  return isCompressed ? gunzipSync(readFileSync(`${file}.gz`)) : readFileSync(file);
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
 * The files of the documentation page, by request path (`/docs`, `/docs/swagger-ui.css`, …). Their links are relative, so a path prefix
 * works, but the page must not be served at `/docs/`. Throws when a file is missing, which a build prevents.
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
