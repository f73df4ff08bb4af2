import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { DOCS_CONTENT_SECURITY_POLICY, loadDocsAssets } from '../../../src/server/http/static-asset.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = `${root}/src/server/http/docs/page`;
const assets = loadDocsAssets();

function text(path: string): string {
  const asset = assets.get(path);
  if (asset === undefined) throw new Error(`no asset ${path}`);
  return Buffer.from(asset.bytes(undefined)).toString('utf8');
}

const ownScripts = [...assets.keys()].filter((path) => path.endsWith('.js') && !path.includes('swagger-ui'));

test('the server serves every file of the page, and Swagger UI', () => {
  const served = [...assets.keys()].map((path) => (path === '/docs' ? 'docs.html' : path.replace('/docs/', '')));
  const expected = [...readdirSync(page), 'swagger-ui-bundle.js', 'swagger-ui.css'];
  expect(served.toSorted()).toEqual(expected.toSorted());
});

test('the server serves everything that the page and its scripts refer to', () => {
  const inPage = [...text('/docs').matchAll(/(?:src|href)="(?<url>[^"]+)"/gu)].map((match) => `/${match[1] ?? ''}`);
  expect(inPage.length).toBeGreaterThan(5);
  for (const path of inPage) expect([...assets.keys(), '/openapi.json', '/playground']).toContain(path);
  for (const script of ownScripts) {
    for (const [, file] of text(script).matchAll(/from '\.\/(?<file>[^']+)'/gu)) {
      expect([...assets.keys()]).toContain(`/docs/${file ?? ''}`);
    }
  }
});

test('no address in our files leads away from this server', () => {
  for (const path of ['/docs', '/docs/docs.css', ...ownScripts]) {
    expect(text(path), path).not.toMatch(/https?:\/\/|["'(]\/\//u);
  }
});

test('the page respects its policy: no inline script, no handler, links relative to a path prefix', () => {
  const html = text('/docs');
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/u);
  expect(html).not.toMatch(/\son[a-z]+=|javascript:/iu);
  expect(html).not.toMatch(/(?:src|href)="\//u);
  expect(DOCS_CONTENT_SECURITY_POLICY).toContain("default-src 'none'");
  expect(DOCS_CONTENT_SECURITY_POLICY).not.toContain('unsafe-eval');
});

test('Swagger UI calls no other server and reads no settings from the address', () => {
  const script = text('/docs/docs.js');
  expect(script).toContain('queryConfigEnabled: false');
  expect(script).toContain('validatorUrl: null');
});

test('types and etags are right, and an etag changes with the content only', () => {
  expect(assets.get('/docs')?.contentType).toBe('text/html; charset=utf-8');
  for (const [path, { contentType, tag }] of assets) {
    expect(contentType, path).toMatch(/^(?:text\/(?:html|css|javascript); charset=utf-8|image\/svg\+xml)$/u);
    expect(tag, path).toMatch(/^[\w-]{22}$/u);
  }
  const again = loadDocsAssets();
  expect(again.get('/docs')?.bytes(undefined)).not.toBe(assets.get('/docs')?.bytes(undefined));
  expect(again.get('/docs')?.bytes(undefined)).toBe(again.get('/docs')?.bytes(undefined));
  for (const [path, { tag }] of assets) expect(again.get(path)?.tag).toBe(tag);
  expect(new Set([...assets.values()].map(({ tag }) => tag)).size).toBe(assets.size);
});

test('the build step copies the files without references to source maps, even if it runs twice', () => {
  for (const _run of [1, 2]) execFileSync(process.execPath, [`${root}/.build/assets.mjs`]);
  const target = `${root}/dist/assets/docs`;
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css', 'docs.html', 'docs.js']) {
    const copied = readFileSync(`${target}/${name}`, 'utf8');
    expect(copied.length, name).toBeGreaterThan(500);
    expect(copied, name).not.toContain('sourceMappingURL');
    const gzip = readFileSync(`${target}/${name}.gz`);
    expect(gunzipSync(gzip).toString('utf8'), name).toBe(copied);
    const br = readFileSync(`${target}/${name}.br`);
    expect(brotliDecompressSync(br).toString('utf8'), name).toBe(copied);
    expect(br.length).toBeLessThan(copied.length / 2);
  }
  expect(statSync(`${target}/swagger-ui.LICENSE`).size).toBeGreaterThan(1000);
  expect(readdirSync(target).filter((name) => name.endsWith('.map'))).toEqual([]);
});
