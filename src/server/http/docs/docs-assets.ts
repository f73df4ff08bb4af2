import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CSS, HTML, loadAsset, SCRIPT, SVG, type StaticAsset } from '../static-asset.ts';

/**
 * The content security policy of every asset: scripts and connections of this server only. Swagger UI uses inline styles and
 * images in data URLs.
 */
export const DOCS_CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'";

/** Path, content type, file. No other file in these folders is served. */
const ASSETS: ReadonlyArray<readonly [path: string, contentType: string, file: string]> = [
  ['/docs', HTML, 'docs.html'],
  ['/docs/docs.css', CSS, 'docs.css'],
  ['/docs/docs.js', SCRIPT, 'docs.js'],
  ['/docs/favicon.svg', SVG, 'favicon.svg'],
  ['/docs/folded-errors-plugin.js', SCRIPT, 'folded-errors-plugin.js'],
  ['/docs/group-by-function.js', SCRIPT, 'group-by-function.js'],
  ['/docs/live-answers-plugin.js', SCRIPT, 'live-answers-plugin.js'],
  ['/docs/live-answers.js', SCRIPT, 'live-answers.js'],
  ['/docs/plain-text-plugin.js', SCRIPT, 'plain-text-plugin.js'],
  ['/docs/server-sent-events.js', SCRIPT, 'server-sent-events.js'],
  ['/docs/swagger-ui-bundle.js', SCRIPT, 'swagger-ui-bundle.js'],
  ['/docs/swagger-ui.css', CSS, 'swagger-ui.css'],
  ['/docs/theme.js', SCRIPT, 'theme.js'],
  ['/docs/with-usage.js', SCRIPT, 'with-usage.js'],
];

/**
 * Reads the files of the documentation page, by request path (`/docs`, `/docs/swagger-ui.css`, …): less than 1 MB, since a
 * build compresses them. Their links are relative, so a path prefix works, but the page must not be served at `/docs/`. Throws
 * when a file is missing, which a build prevents.
 */
export function loadDocsAssets(): ReadonlyMap<string, StaticAsset> {
  return new Map(
    ASSETS.map(([path, contentType, file]) => [
      path,
      loadAsset(fileOf(file), contentType, DOCS_CONTENT_SECURITY_POLICY),
    ]),
  );
}

/** A build copies all files to `dist/assets/docs`; a run from sources reads them where they come from. */
function fileOf(file: string): string {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return fileURLToPath(new URL(`../assets/docs/${file}`, here));
  if (!file.startsWith('swagger-ui')) return fileURLToPath(new URL(`page/${file}`, here));
  return join(dirname(createRequire(here).resolve('swagger-ui-dist/package.json')), file);
}
