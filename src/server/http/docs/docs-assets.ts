import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { ContentEncoding } from '../response-head.ts';

/** One static file of the documentation page. */
export interface DocsAsset {
  readonly contentType: string;
  /** A strong validator of the plain form, without its quotes. */
  readonly tag: string;
  /** Compressed forms that are available, the smallest first. */
  readonly encodings: readonly ContentEncoding[];
  /** Returns the same buffer for every request. */
  bytes(encoding: ContentEncoding | undefined): Uint8Array;
}

/**
 * The content security policy of every asset: scripts and connections of this server only. Swagger UI uses inline styles and
 * images in data URLs.
 */
export const DOCS_CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'";

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Path, content type, file. No other file in these folders is served. */
const ASSETS: ReadonlyArray<readonly [path: string, contentType: string, file: string]> = [
  ['/docs', HTML, 'docs.html'],
  ['/docs/docs.css', CSS, 'docs.css'],
  ['/docs/docs.js', SCRIPT, 'docs.js'],
  ['/docs/favicon.svg', 'image/svg+xml', 'favicon.svg'],
  ['/docs/short-errors-plugin.js', SCRIPT, 'short-errors-plugin.js'],
  ['/docs/live-streams-plugin.js', SCRIPT, 'live-streams-plugin.js'],
  ['/docs/live-streams.js', SCRIPT, 'live-streams.js'],
  ['/docs/plain-text-plugin.js', SCRIPT, 'plain-text-plugin.js'],
  ['/docs/server-sent-events.js', SCRIPT, 'server-sent-events.js'],
  ['/docs/swagger-ui-bundle.js', SCRIPT, 'swagger-ui-bundle.js'],
  ['/docs/swagger-ui.css', CSS, 'swagger-ui.css'],
  ['/docs/theme.js', SCRIPT, 'theme.js'],
];

/**
 * Reads the files of the documentation page, by request path (`/docs`, `/docs/swagger-ui.css`, …): less than 1 MB, since a
 * build compresses them. Their links are relative, so a path prefix works, but the page must not be served at `/docs/`. Throws
 * when a file is missing, which a build prevents.
 */
export function loadDocsAssets(): ReadonlyMap<string, DocsAsset> {
  return new Map(ASSETS.map(([path, contentType, file]) => [path, loadAsset(contentType, fileOf(file))]));
}

function loadAsset(contentType: string, file: string): DocsAsset {
  if (!existsSync(`${file}.gz`)) {
    const plain = readFileSync(file);
    return { contentType, tag: tagOf(plain), encodings: [], bytes: () => plain };
  }
  const gzip = readFileSync(`${file}.gz`);
  const br = readFileSync(`${file}.br`);
  // Nearly all clients accept compression, so most workers never need the uncompressed form.
  let plain: Uint8Array | undefined;
  return {
    contentType,
    tag: tagOf(gzip),
    encodings: ['br', 'gzip'],
    bytes(encoding) {
      if (encoding === 'br') return br;
      return encoding === 'gzip' ? gzip : (plain ??= gunzipSync(gzip));
    },
  };
}

function tagOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}

/** A build copies all files to `dist/assets/docs`; a run from sources reads them where they come from. */
function fileOf(file: string): string {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return fileURLToPath(new URL(`../assets/docs/${file}`, here));
  if (!file.startsWith('swagger-ui')) return fileURLToPath(new URL(`page/${file}`, here));
  return join(dirname(createRequire(here).resolve('swagger-ui-dist/package.json')), file);
}
