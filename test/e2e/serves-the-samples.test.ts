import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSvc, startServer, type RunningServer } from '../support/running-server.ts';
import { readStream } from '../support/sse.ts';

const SAMPLES = fileURLToPath(new URL('../../svc_src', import.meta.url));
const KEY = 'the-password-of-this-test';

interface Operation {
  readonly requestBody: {
    readonly content: {
      readonly 'application/json': { readonly examples?: Readonly<Record<string, { readonly $ref: string }>> };
    };
  };
}

let open: RunningServer;
let locked: RunningServer;

beforeAll(async () => {
  open = await startServer({ from: SAMPLES });
  locked = await startServer({
    from: SAMPLES,
    flags: ['--workers', '1', '--transport', 'node'],
    env: { SVC_PASSWORD: KEY },
  });
});

afterAll(async () => {
  await Promise.all([open.stop(), locked.stop()]);
});

test('the samples have no diagnostics', async () => {
  const run = await runSvc(['check', '--from', SAMPLES]);
  expect(run).toMatchObject({ code: 0 });
  expect(run.stdout).not.toContain('warning');
});

test("every sample function answers its examples without a provider's key, in calls and in streams", async () => {
  const document = (await (await fetch(`${open.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, { readonly post?: Operation }>>;
    readonly components: { readonly examples: Readonly<Record<string, { readonly value: unknown }>> };
  };
  let examples = 0;
  for (const [path, { post }] of Object.entries(document.paths)) {
    if (post === undefined || !path.startsWith('/call/')) continue;
    const all = Object.values(post.requestBody.content['application/json'].examples ?? {});
    for (const { $ref: reference } of all) {
      const { value } = document.components.examples[reference.replace('#/components/examples/', '')] ?? {};
      examples += 1;
      const called = await fetch(open.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(value),
      });
      const answer: unknown = await called.json();
      expect(called.status, `${path}: ${JSON.stringify(answer)}`).toBe(200);
      const reading = await readStream(open.url + path.replace('/call/', '/stream/'), value);
      expect(reading.messages.at(-1)?.data).toEqual({ final_result: answer });
    }
  }
  expect(examples).toBeGreaterThanOrEqual(6);
});

test('the start line names the address, the number of functions and workers, and the page', async () => {
  await expect.poll(open.output).toMatch(/^svc: listening .*, docs at http:\/\/localhost:\d+\/docs$/mu);
  expect(open.output()).toMatch(/listening on http:\/\/0\.0\.0\.0:\d+/u);
  expect(open.output()).toMatch(/\d+ functions/u);
  expect(open.output()).toMatch(/\d+ workers/u);
});

test('without a password, probes, page and document need no key', async () => {
  for (const path of ['/_debug/ping', '/livez', '/readyz', '/healthz']) {
    const response = await fetch(open.url + path);
    expect(response.status).toBe(200);
  }
  expect(await (await fetch(`${open.url}/_debug/ping`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${open.url}/_debug/status`)).json()).toMatchObject({ authz: { enforcement: 'none' } });
  const page = await fetch(`${open.url}/docs`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await page.text()).toContain('<html');
  const metrics = await (await fetch(`${open.url}/metrics`)).text();
  expect(metrics).toMatch(/^svc_\w+/mu);
});

test('with a password, everything except probes and the static page needs the key', async () => {
  for (const path of ['/_debug/ping', '/livez', '/readyz', '/healthz', '/docs']) {
    expect((await fetch(locked.url + path)).status, path).toBe(200);
  }
  for (const path of ['/openapi.json', '/metrics']) {
    const refused = await fetch(locked.url + path);
    expect(refused.status, path).toBe(403);
    expect(await refused.json()).toMatchObject({ error: 'Unauthorized', message: expect.any(String) as string });
  }
  // Only callers with the key learn whether a function exists.
  expect((await fetch(`${locked.url}/call/NoSuchFunction`, { method: 'POST' })).status).toBe(403);
  const status = await fetch(`${locked.url}/_debug/status`);
  expect(status.status).toBe(403);
  expect(await status.json()).toMatchObject({
    error: 'Unauthorized',
    authz: { enforcement: 'active', outcome: 'fail' },
  });
});

test('svc refuses a wrong key, and accepts the right one as x-svc-api-key and as a bearer token', async () => {
  const ask = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${locked.url}/call/ClassifyTicket`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"message":"refund please"}',
    });
  expect((await ask({})).status).toBe(403);
  expect((await ask({ 'x-svc-api-key': `${KEY}x` })).status).toBe(403);
  expect((await ask({ 'x-svc-api-key': KEY })).status).toBe(200);
  expect((await ask({ authorization: `Bearer ${KEY}` })).status).toBe(200);
  const status = await fetch(`${locked.url}/_debug/status`, { headers: { 'x-svc-api-key': KEY } });
  expect(await status.json()).toMatchObject({ authz: { enforcement: 'active', outcome: 'pass' } });
});
