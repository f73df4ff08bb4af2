import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../support/running-server.ts';

interface Answer {
  readonly status: number;
  readonly encoding: string | undefined;
  readonly etag: string;
  readonly vary: string;
  readonly bytes: Buffer;
}

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({
    from: fileURLToPath(new URL('../../svc_src', import.meta.url)),
    flags: ['--workers', '1'],
  });
});

afterAll(() => server.stop());

/** Returns the raw answer, which `fetch` would decompress. */
function get(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(server.url + path, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { 'content-encoding': encoding, etag = '', vary = '' } = response.headers;
        resolve({ status: response.statusCode ?? 0, encoding, etag, vary, bytes: Buffer.concat(chunks) });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

test.each(['/docs', '/docs/docs.js', '/docs/docs.css', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css'])(
  'the same bytes of %s come plain, as gzip and as brotli',
  async (path) => {
    const plain = await get(path, {});
    const gzip = await get(path, { 'accept-encoding': 'gzip, deflate' });
    const br = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect([plain.encoding, gzip.encoding, br.encoding]).toEqual([undefined, 'gzip', 'br']);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true);
    expect(br.bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(new Set([plain.etag, gzip.etag, br.etag]).size).toBe(3);
    expect([plain.vary, gzip.vary, br.vary]).toEqual(['accept-encoding', 'accept-encoding', 'accept-encoding']);
    const again = await get(path, { 'accept-encoding': 'br', 'if-none-match': br.etag });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  },
);

test('the document is compressed with gzip', async () => {
  const plain = await get('/openapi.json', {});
  const gzip = await get('/openapi.json', { 'accept-encoding': 'gzip' });
  expect(gzip.encoding).toBe('gzip');
  expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
  expect(gzip.bytes.length).toBeLessThan(plain.bytes.length / 4);
});
