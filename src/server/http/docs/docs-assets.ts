import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadPage, type StaticAsset } from '../static-asset.ts';

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
  if (!file.startsWith('swagger-ui')) return fileURLToPath(new URL(`page/${file}`, here));
  return join(dirname(createRequire(here).resolve('swagger-ui-dist/package.json')), file);
}
