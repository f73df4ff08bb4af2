import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One static file of the documentation page. */
export interface DocsAsset {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** A strong validator in quotes, ready for the `etag` header. */
  readonly etag: string;
}

/**
 * The policy to send with every asset: scripts and connections of this server only. Swagger UI sets styles inline and
 * draws with data URLs.
 */
export const DOCS_CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'";

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Path, content type, file. Nothing else is served, whatever lies beside these files. */
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
 * The files of the documentation page by request path (`/docs`, `/docs/swagger-ui.css`, …), read at once: about 2 MB.
 * Their links are relative, so a path prefix works; `/docs/` with a slash at the end must not answer the page.
 * Throws when a file is missing, which a build prevents.
 */
export function loadDocsAssets(): ReadonlyMap<string, DocsAsset> {
  return new Map(
    ASSETS.map(([path, contentType, file]) => {
      const bytes = readFileSync(fileOf(file));
      const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
      return [path, { contentType, bytes, etag: `"${digest}"` }];
    }),
  );
}

/** In a build all files lie in `dist/assets/docs`; from sources they are read where they come from. */
function fileOf(file: string): string {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return fileURLToPath(new URL(`../../../../assets/docs/${file}`, here));
  if (!file.startsWith('swagger-ui')) return fileURLToPath(new URL(`page/${file}`, here));
  return join(dirname(createRequire(here).resolve('swagger-ui-dist/package.json')), file);
}
