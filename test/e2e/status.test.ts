import { expect, test } from 'vitest';
import { reply, status } from '../support/fake-provider.ts';
import { serveModel } from '../support/served-model.ts';
import { RESUME_FILES, RESUME_REPLY } from './definitions.ts';

const KEY = { 'x-svc-api-key': 'open sesame, please' };

const { fake, server, post } = await serveModel({
  files: RESUME_FILES,
  flags: ['--workers', '2', '--log-level', 'off'],
  env: { OPENAI_API_KEY: 'sk-test', SVC_PASSWORD: KEY['x-svc-api-key'] },
});

interface Status {
  readonly workers: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly clients: ReadonlyArray<{ readonly name: string; readonly last_failure: unknown }>;
}

async function statusNow(): Promise<Status> {
  return (await (await fetch(`${server.url}/_debug/status`, { headers: KEY })).json()) as Status;
}

async function call(): Promise<number> {
  const answer = await post('call/ExtractResume', { text: 'Ada' }, { headers: KEY });
  await answer.text();
  return answer.status;
}

test('with the key, the status lists the program, every worker and the last failure of every client', async () => {
  const first = await statusNow();
  expect(first).toMatchObject({
    authz: { enforcement: 'active', outcome: 'pass' },
    version: expect.stringMatching(/^\d+\.\d+\.\d+/u),
    program: expect.stringMatching(/^[0-9a-f]{8,}$/u),
    uptime_seconds: expect.any(Number),
  });
  expect(first.clients.length).toBeGreaterThan(0);
  expect(first.clients.filter((client) => client.last_failure !== null)).toEqual([]);
  await expect
    .poll(async () => (await statusNow()).workers.map((worker) => String(worker['state'])).toSorted())
    .toEqual(['serving', 'serving', 'spare']);
  await expect
    .poll(async () => (await statusNow()).workers.every((worker) => Number(worker['memory_bytes']) > 2 ** 20))
    .toBe(true);

  fake.answer(status(429, { error: { message: 'the key sk-test has reached its limit' } }));
  expect(await call()).toBe(502);
  fake.answer(reply(RESUME_REPLY));
  expect(await call()).toBe(200);
  const failures = async () => (await statusNow()).clients.map((client) => client.last_failure).filter(Boolean);
  await expect
    .poll(failures)
    .toEqual([{ error: 'client_error', upstream_status: 429, at: expect.stringMatching(/^\d{4}-.*Z$/u) }]);
});

test('without the key, the status has no details', async () => {
  const answer = await fetch(`${server.url}/_debug/status`);
  expect(answer.status).toBe(403);
  const { message, request_id, ...body } = (await answer.json()) as Record<string, unknown>;
  expect([typeof message, typeof request_id]).toEqual(['string', 'string']);
  expect(body).toEqual({ error: 'Unauthorized', authz: { enforcement: 'active', outcome: 'fail' } });
});
