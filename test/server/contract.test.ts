import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { CONTRACT_ITEMS } from './contract/contract-items.ts';
import { JSON_HEADERS } from './contract/row.ts';
import { ROWS } from './contract/rows.ts';
import { RawConnection } from './support/raw-connection.ts';
import { failed, success } from './support/scripted-runtime.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';
import { until } from './support/until.ts';

const servers: TestServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

it('covers every item of the contract', () => {
  const suites = [
    'contract.test.ts',
    'streams.test.ts',
    'transport/conformance.test.ts',
    '../clock/library-timers.test.ts',
  ];
  const sources = suites.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n');
  const table = CONTRACT_ITEMS.map(({ promise, rows, tests = [] }) => {
    const shown = ROWS.filter((row) => rows?.(row) === true).length;
    // A test that is missing or renamed verifies nothing.
    const named = tests.filter((name) => sources.includes(`'${name}',`) || sources.includes(`'${name} (%s)',`)).length;
    return { promise, cases: shown + named, missing: tests.length - named };
  });
  console.log(
    table.map(({ promise, cases }) => `${String(cases * TRANSPORTS.length).padStart(4)}  ${promise}`).join('\n'),
  );
  console.log(
    `${ROWS.length * TRANSPORTS.length} requests over ${TRANSPORTS.length} transports, ${table.length} promises`,
  );
  expect(table.filter(({ cases, missing }) => cases === 0 || missing > 0)).toEqual([]);
  expect(ROWS.length).toBeGreaterThan(115);
  expect(table.length).toBeGreaterThan(55);
});

describe.each(TRANSPORTS)('over %s', (name) => {
  async function start(config: Partial<Config> = {}): Promise<TestServer> {
    const server = await startServer(name, config);
    servers.push(server);
    return server;
  }

  it.each(ROWS)('$title', async (row) => {
    const server = await start(row.config);
    row.arrange?.(server);
    const answer = await fetch(`${server.url}${row.path}`, {
      redirect: 'manual',
      method: row.method ?? 'GET',
      headers: row.headers ?? {},
      ...(row.body === undefined ? {} : { body: row.body }),
    });
    const text = await answer.text();
    expect(answer.status, text).toBe(row.status);
    if (row.answer !== undefined)
      expect(JSON.parse(text)).toEqual(row.answer instanceof Object ? expect.objectContaining(row.answer) : row.answer);
    for (const [header, value] of Object.entries(row.answerHeaders ?? {})) {
      const given = answer.headers.get(header);
      if (value instanceof RegExp) expect(given, header).toMatch(value);
      else expect(given, header).toBe(value);
    }
    if (row.status >= 400 && row.method !== 'HEAD') {
      const problem = JSON.parse(text) as Record<string, unknown>;
      expect(problem['request_id']).toBe(answer.headers.get('x-request-id'));
      expect(typeof problem['message']).toBe('string');
    }
    expect(text).not.toContain('secret inside');
    expect(server.services.active.size).toBe(0);
  });

  it.each(['', 'Content-Length: 0\r\n', 'Content-Type: application/json\r\n'])(
    'answers a POST without a body by what the function takes: with "%s"',
    async (header) => {
      const { port, runtime } = await start();
      const answerOf = async (path: string): Promise<string> => {
        const connection = new RawConnection(port);
        connection.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
        await connection.until(() => /"error"|hello/u.test(connection.text));
        connection.end();
        return connection.text;
      };
      for (const path of ['/call/Greet', '/stream/Greet']) {
        const text = await answerOf(path);
        expect(text).toMatch(/^HTTP\/1\.1 400 /u);
        expect(text).toContain('"message":"The body is empty: send a JSON object."');
      }
      expect(await answerOf('/call/Sum')).toMatch(/^HTTP\/1\.1 200 [^]*"hello"$/u);
      const streamed = answerOf('/stream/Sum');
      await until(() => runtime.streams.length === 1);
      runtime.streams[0]?.observer.ended(success('hello'));
      expect(await streamed).toMatch(/^HTTP\/1\.1 200 [^]*"final_result":"hello"/u);
    },
  );

  it.each([
    ['answers bad_request in the form of every other error', 400, 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
    [
      'answers headers_too_large in the form of every other error',
      431,
      `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ],
    ['answers not_implemented in the form of every other error', 501, 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('%s', async (title, status, bytes) => {
    const server = await start();
    const connection = new RawConnection(server.port);
    connection.write(bytes);
    const answer = await connection.answer();
    expect(answer.status).toBe(status);
    const problem = JSON.parse(answer.body) as Record<string, unknown>;
    expect(title).toContain(`answers ${String(problem['error'])} in`);
    expect(problem['request_id']).toBe(answer.headers.get('x-request-id'));
    expect(String(problem['message'])).toMatch(/^\S.*\.$/);
    await connection.until(() => connection.closed);
  });

  it('answers 304 to the etag that it sent', async () => {
    const { url } = await start();
    for (const path of ['/openapi.json', '/docs']) {
      const etag = (await fetch(`${url}${path}`)).headers.get('etag') ?? '';
      const again = await fetch(`${url}${path}`, { headers: { 'if-none-match': `"x", W/${etag}` } });
      expect([again.status, await again.text()]).toEqual([304, '']);
      const changed = await fetch(`${url}${path}`, { headers: { 'if-none-match': '"x"' } });
      expect(changed.status).toBe(200);
    }
  });

  it('serves waiting calls in order of arrival', async () => {
    const server = await start({ maxInFlight: 1, maxQueue: 2 });
    const finish: Array<() => void> = [];
    server.runtime.onCall = () => new Promise((resolve) => finish.push(() => resolve(success(finish.length))));
    const call = () => fetch(`${server.url}/call/Greet`, { method: 'POST', headers: JSON_HEADERS, body: '{}' });
    const running = [call()];
    await until(() => finish.length === 1);
    running.push(call());
    await until(() => server.services.admission.waiting === 1);
    running.push(call());
    await until(() => server.services.admission.waiting === 2);
    expect((await call()).status).toBe(503);
    for (let turn = 0; turn < 3; turn += 1) {
      await until(() => finish.length === turn + 1);
      finish[turn]?.();
    }
    expect(await Promise.all(running.map(async (answer) => (await answer).json()))).toEqual([1, 2, 3]);
    expect(server.services.admission.running).toBe(0);
  });

  it('answers a call whose deadline passes while it waits for a slot, and never starts it', async () => {
    const server = await start({ maxInFlight: 1, maxQueue: 2, requestTimeoutMs: 400 });
    let finish: (() => void) | undefined;
    server.runtime.onCall = () => new Promise((resolve) => (finish = () => resolve(success(1))));
    const call = () => fetch(`${server.url}/call/Greet`, { method: 'POST', headers: JSON_HEADERS, body: '{}' });
    const first = call();
    await until(() => server.runtime.calls.length === 1);
    const second = await call();
    expect(second.status).toBe(504);
    expect(await second.json()).toMatchObject({ error: 'timeout', timer: 'total', after_ms: 400 });
    expect(server.services.admission.waiting).toBe(0);
    finish?.();
    expect((await first).status).toBe(200);
    expect(server.runtime.calls).toHaveLength(1);
  });

  it('releases the slot of a caller who left while it waited', async () => {
    const server = await start({ maxInFlight: 1, maxQueue: 2 });
    const finish: Array<() => void> = [];
    server.runtime.onCall = () => new Promise((resolve) => finish.push(() => resolve(success(1))));
    const call = (signal: AbortSignal) =>
      fetch(`${server.url}/call/Greet`, { method: 'POST', headers: JSON_HEADERS, body: '{}', signal });
    const first = call(AbortSignal.timeout(120_000));
    await until(() => server.runtime.calls.length === 1);
    const leaving = new AbortController();
    const second = call(leaving.signal);
    await until(() => server.services.admission.waiting === 1);
    leaving.abort();
    await expect(second).rejects.toThrow('aborted');
    await until(() => server.services.admission.waiting === 0);
    finish[0]?.();
    expect((await first).status).toBe(200);
    await until(() => server.services.admission.running === 0);
  });

  it('cancels the call of a caller who left', async () => {
    const server = await start();
    server.runtime.onCall = () => new Promise(() => {});
    const leaving = new AbortController();
    const call = fetch(`${server.url}/call/Greet`, {
      method: 'POST',
      headers: JSON_HEADERS,
      body: '{}',
      signal: leaving.signal,
    });
    await until(() => server.runtime.calls.length === 1);
    leaving.abort();
    await expect(call).rejects.toThrow('aborted');
    await until(() => server.runtime.calls[0]?.context.cancellation.cancelled === true);
    await until(() => server.services.active.size === 0);
    expect(server.log.at(-1)?.fields).toMatchObject({ status: 499, client: 'Fast', inputTokens: 12, outputTokens: 2 });
  });

  it('answers the calls in flight at the end of a drain', async () => {
    const server = await start();
    server.runtime.onCall = () => new Promise(() => {});
    const call = fetch(`${server.url}/call/Greet`, { method: 'POST', headers: JSON_HEADERS, body: '{}' });
    await until(() => server.runtime.calls.length === 1);
    for (const request of server.services.active.list()) request.drain();
    const answer = await call;
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: 'draining' });
    expect(server.runtime.calls[0]?.context.cancellation.reason).toBe('draining');
    expect(server.log.at(-1)?.fields).toMatchObject({ status: 503, client: 'Fast', inputTokens: 12, outputTokens: 2 });
  });

  it('writes one line for each call, and counts it', async () => {
    const server = await start();
    await fetch(`${server.url}/call/Greet`, {
      method: 'POST',
      headers: { ...JSON_HEADERS, 'x-request-id': 'r1' },
      body: '{"a":1}',
    });
    expect(server.log).toHaveLength(1);
    expect(server.log[0]).toMatchObject({
      level: 'info',
      fields: {
        requestId: 'r1',
        function: 'Greet',
        status: 200,
        client: 'Fast',
        request: '{"a":1}',
        response: '"hello"',
      },
    });
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('svc_requests_total{function="Greet",route="call",status="200"} 1');
    expect(metrics).toContain('svc_requests_in_flight{route="call"} 0');
    expect(metrics).toContain('svc_tokens_total{client="Fast",direction="input"} 12');
  });

  it('includes the prompt in a failure only where that is allowed', async () => {
    for (const exposePrompts of [false, true]) {
      const server = await start({ exposePrompts });
      const outcome = failed({ code: 'validation_failure', message: 'no', rawOutput: '', details: [] });
      server.runtime.onCall = () => ({
        ...outcome,
        report: { ...outcome.report, prompt: [{ role: 'user', parts: [] }] },
      });
      const answer = await fetch(`${server.url}/call/Greet`, { method: 'POST', headers: JSON_HEADERS, body: '{}' });
      expect('prompt' in ((await answer.json()) as object)).toBe(exposePrompts);
    }
  });
});
