import { fileURLToPath } from 'node:url';
import { CSS, HTML, loadAsset, SCRIPT, SVG, type StaticAsset } from '../static-asset.ts';

/**
 * The content security policy of the page: scripts, styles and connections of this server only. Pictures that the user selects
 * are in data and blob URLs.
 */
const PLAYGROUND_CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; media-src data: blob:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/** Path, content type, file. No other file in the folder is served. */
const ASSETS: ReadonlyArray<readonly [path: string, contentType: string, file: string]> = [
  ['/playground', HTML, 'playground.html'],
  ['/playground/favicon.svg', SVG, 'favicon.svg'],
  ['/playground/playground.css', CSS, 'playground.css'],
  ['/playground/playground.js', SCRIPT, 'playground.js'],
  ['/playground/theme.js', SCRIPT, 'theme.js'],
];

/** Reads the files of the page from the folder of a build, by request path. Throws when one is missing. */
export function loadPlaygroundAssets(): ReadonlyMap<string, StaticAsset> {
  const folder = assetFolder();
  return new Map(
    ASSETS.map(([path, contentType, file]) => [
      path,
      loadAsset(fileURLToPath(new URL(file, folder)), contentType, PLAYGROUND_CONTENT_SECURITY_POLICY),
    ]),
  );
}

/** Only a build creates the files, so a run from sources reads those too. */
function assetFolder(): URL {
  const here = import.meta.url;
  const path = here.endsWith('.ts') ? '../../../../dist/assets/playground/' : '../assets/playground/';
  return new URL(path, here);
}
