import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { serveModel } from '../support/served-model.ts';
import { readStream } from '../support/sse.ts';
import { RESUME_FILES } from './definitions.ts';

/** A word in a field that is a number, and a job without a title. */
const LOSSY =
  '{"name": "Ada", "email": "n/a", "seniority": "JUNIOR", "jobs": [{"title": "Poet", "years": "secret-word"}, {"years": 1}], "scores": {}}';
const LOSSY_VALUE = {
  name: 'Ada',
  email: 'n/a',
  seniority: 'JUNIOR',
  jobs: [{ title: 'Poet', years: null }],
  scores: {},
};
const WARNINGS = [
  { path: 'jobs[0].years', message: 'expected int, got the string "secret-word"', kind: 'defaulted' },
  { path: 'jobs[1]', message: 'at title: the required field "title" is missing', kind: 'dropped' },
];
const REFUSED = {
  error: 'validation_failure',
  message: expect.stringContaining('lossy (dropped=1, defaulted=1)') as string,
  losses: { dropped: 1, defaulted: 1 },
  details: WARNINGS.map(({ path, message }) => ({ path, message: expect.stringContaining(message) as string })),
  raw_output: LOSSY,
};
const INCLUDE = { svc_options: { include: ['warnings'] } };

const served = await serveModel({
  files: RESUME_FILES,
  flags: ['--workers', '1', '--features', 'beta', '--transport', 'node', '--log-content', 'none'],
  answer: reply(LOSSY, { chunkSize: 9 }),
});
const { fake, server, logLine } = served;

function post(route: string, body: unknown, options = {}): Promise<Response> {
  return served.post(`${route}/ExtractResume`, body, options);
}

async function lastMessage(body: unknown): Promise<unknown> {
  const { messages } = await readStream(`${server.url}/stream/ExtractResume`, body);
  return messages.at(-1)?.data;
}

test('a call has a header with the counts, and warnings if the caller asks for them', async () => {
  const bare = await post('call', { text: 'x' });
  expect(await bare.json()).toEqual(LOSSY_VALUE);
  expect(bare.headers.get('x-svc-lossy')).toBe('dropped=1, defaulted=1');
  const response = await post('call', { text: 'x', ...INCLUDE });
  expect(await response.json()).toEqual({ result: LOSSY_VALUE, meta: { warnings: WARNINGS } });
  expect(response.headers.get('x-svc-lossy')).toBe('dropped=1, defaulted=1');
  fake.answer(reply('{"name": "Ada", "seniority": "JUNIOR", "jobs": [], "scores": {}}'));
  expect((await post('call', { text: 'x' })).headers.has('x-svc-lossy')).toBe(false);
});

test('the last message of a stream has warnings if the caller asks for them', async () => {
  expect(await lastMessage({ text: 'x' })).toEqual({ final_result: LOSSY_VALUE });
  expect(await lastMessage({ text: 'x', ...INCLUDE })).toEqual({
    final_result: LOSSY_VALUE,
    warnings: WARNINGS,
  });
});

test('a parse request reports losses as a call does', async () => {
  const bare = await post('parse', { text: LOSSY });
  expect(bare.headers.get('x-svc-lossy')).toBe('dropped=1, defaulted=1');
  expect(await bare.json()).toEqual(LOSSY_VALUE);
  const full = await post('parse', { text: LOSSY, ...INCLUDE });
  expect(await full.json()).toEqual({ value: LOSSY_VALUE, warnings: WARNINGS });
});

test('a request can refuse losses', async () => {
  const options = { svc_options: { on_loss: 'refuse' } };
  const called = await post('call', { text: 'x', ...options });
  expect(called.status).toBe(500);
  expect(called.headers.get('x-svc-lossy')).toBe('dropped=1, defaulted=1');
  expect(await called.json()).toMatchObject(REFUSED);
  expect(await lastMessage({ text: 'x', ...options })).toMatchObject(REFUSED);
  const parsed = await post('parse', { text: LOSSY, ...options });
  expect(parsed.status).toBe(500);
  expect(await parsed.json()).toMatchObject(REFUSED);
});

test('the log counts losses, and shows no content of the reply if it is not to', async () => {
  await (await post('call', { text: 'x' }, { headers: { 'x-request-id': 'logged-call' } })).text();
  const line = await logLine('logged-call');
  expect(line).toMatchObject({ level: 'info', losses: { dropped: 1, defaulted: 1 } });
  expect(server.output()).not.toContain('secret-word');
});

test('a large reply that a thread parses has the same losses', async () => {
  const jobs = Array.from({ length: 5_000 }, (_, index) =>
    index % 25 === 0 ? '{years: 1}' : `{title: "Job ${index} ${'of many '.repeat(8)}"}`,
  );
  const large = `\`\`\`\n{name: "Ada", seniority: "JUNIOR", jobs: [${jobs.join()}], scores: {}}\n\`\`\``;
  expect(large.length).toBeGreaterThan(400_000);
  const response = await post('parse', { text: large, ...INCLUDE });
  expect(response.headers.get('x-svc-lossy')).toBe('dropped=200');
  const { value, warnings, more_warnings } = (await response.json()) as Record<string, { readonly length: number }>;
  expect((value as unknown as typeof LOSSY_VALUE).jobs).toHaveLength(4_800);
  expect(warnings).toHaveLength(100);
  expect(more_warnings).toBe(100);
  const refused = await post('parse', { text: large, svc_options: { on_loss: 'refuse' } });
  expect(await refused.json()).toMatchObject({ losses: { dropped: 200, defaulted: 0 } });
});

test('--on-loss refuse refuses losses unless a request accepts them, and counts the replies as failed', async () => {
  const own = await served.start('--on-loss', 'refuse');
  const refused = await post('call', { text: 'x' }, own);
  expect(refused.status).toBe(500);
  expect(await refused.json()).toMatchObject(REFUSED);
  const accepted = await post('call', { text: 'x', svc_options: { on_loss: 'accept' } }, own);
  expect(await accepted.json()).toEqual(LOSSY_VALUE);
  const metrics = await (await fetch(`${own.url}/metrics`)).text();
  for (const series of [
    'svc_replies_total{function="ExtractResume",outcome="failed"} 1',
    'svc_replies_total{function="ExtractResume",outcome="lossy"} 1',
    'svc_reply_losses_total{function="ExtractResume",kind="dropped"} 2',
    'svc_reply_losses_total{function="ExtractResume",kind="defaulted"} 2',
    'svc_failures_total{function="ExtractResume",error="validation_failure"} 1',
  ]) {
    expect(metrics).toContain(series);
  }
  expect(await own.stop()).toBe(0);
});
