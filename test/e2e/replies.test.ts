import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { serveModel } from '../support/served-model.ts';
import { readStream } from '../support/sse.ts';
import { RESUME_FILES } from './definitions.ts';

const served = await serveModel({ files: RESUME_FILES, flags: ['--workers', '1', '--features', 'beta'] });
const { fake, server, logLine } = served;

function post(route: string, body: unknown, requestId: string, signal?: AbortSignal): Promise<Response> {
  const headers = { 'x-request-id': requestId };
  return served.post(`${route}/ExtractResume`, body, { headers, ...(signal && { signal }) });
}

function replyCount(outcome: string): Promise<number> {
  return served.metric(`svc_replies_total{function="ExtractResume",outcome="${outcome}"}`);
}

const CLEAN = '{"name": "Ada", "email": null, "seniority": "JUNIOR", "jobs": [], "scores": {}}';

/** A fence, keys without quotes, a job without a title, a number in a string, an undeclared key in the place of the missing email. */
const REPAIRED =
  'Here:\n```json\n{name: "Ada", seniority: "junior", jobs: [{"years": 1}, {"title": "Poet", "years": "2 years"}], scores: {"a": "x", "b": 1}, mood: "fine"}\n```';
const REPAIRED_VALUE = {
  name: 'Ada',
  email: null,
  seniority: 'JUNIOR',
  jobs: [{ title: 'Poet', years: 2 }],
  scores: { b: 1 },
};
const REPAIRS = [
  'dropped-item jobs[0]',
  'dropped-item scores.a',
  'extra-key mood',
  'letter-case seniority',
  'markdown',
  'number-in-text jobs[1].years',
  'repaired',
  'unread-key mood',
];

test('the log lists each repaired or dropped value with its path, and the metrics count the reply', async () => {
  fake.answer(reply(REPAIRED, { chunkSize: 7 }));
  const before = await replyCount('lossy');

  expect(await (await post('call', { text: 'x' }, 'lossy-call')).json()).toEqual(REPAIRED_VALUE);
  expect(await (await post('parse', { text: REPAIRED }, 'lossy-parse')).json()).toEqual(REPAIRED_VALUE);
  const { messages } = await readStream(
    `${server.url}/stream/ExtractResume`,
    { text: 'x' },
    { 'x-request-id': 'lossy-stream' },
  );
  expect(messages.at(-1)?.data).toEqual({ final_result: REPAIRED_VALUE });

  for (const requestId of ['lossy-call', 'lossy-parse', 'lossy-stream']) {
    const line = await logLine(requestId);
    expect(line).toMatchObject({ level: 'info', losses: { dropped: 2, defaulted: 1 } });
    expect((line['flags'] as string[]).toSorted()).toEqual(REPAIRS);
  }
  expect((await replyCount('lossy')) - before).toBe(3);
});

test('a clean reply has no flags, and counts as clean', async () => {
  fake.answer(reply(CLEAN));
  const before = await replyCount('clean');
  expect((await post('call', { text: 'x' }, 'clean-call')).status).toBe(200);
  expect(await logLine('clean-call')).not.toHaveProperty('flags');
  expect((await replyCount('clean')) - before).toBe(1);
});

test('a reply that does not match the type counts as failed, and the log states the path', async () => {
  fake.answer(reply('{"name": "Ada", "seniority": "wizard"}'));
  const before = await replyCount('failed');
  expect((await post('call', { text: 'x' }, 'failed-call')).status).toBe(500);
  expect(await logLine('failed-call')).toMatchObject({
    level: 'error',
    error: 'validation_failure',
    details: expect.stringContaining('"path":"seniority"') as string,
  });
  expect((await replyCount('failed')) - before).toBe(1);
});

// --- large replies: parsed on a thread ------------------------------------------------------------------------------

const JOBS = Array.from({ length: 12_000 }, (_, index) => ({ title: `Job "number" ${index}`, years: index % 40 }));
const LARGE_VALUE = { name: 'Ada', email: null, seniority: 'SENIOR', jobs: JOBS, scores: { a: 0.5 } };
/** About 600 KB, in a fence, without the quotes of keys. */
const LARGE = `\`\`\`json\n${JSON.stringify({ ...LARGE_VALUE, seniority: 'experienced' }).replaceAll(/"(\w+)":/gu, '$1:')}\n\`\`\``;

test('a large reply has the same value in a call, a stream and a parse request', async () => {
  fake.answer(reply(LARGE, { chunkSize: 5000 }));
  const called = await (await post('call', { text: 'x' }, 'large-call')).json();
  expect(isDeepStrictEqual(called, LARGE_VALUE)).toBe(true);
  const parsed = await (await post('parse', { text: LARGE }, 'large-parse')).json();
  expect(isDeepStrictEqual(parsed, LARGE_VALUE)).toBe(true);
  const { messages } = await readStream(`${server.url}/stream/ExtractResume`, { text: 'x' });
  expect(isDeepStrictEqual(messages.at(-1)?.data, { final_result: LARGE_VALUE })).toBe(true);
  expect((await logLine('large-call'))['flags']).toContain('markdown');
});

test('a parse request explains a reply, here and on a thread, and a reply that does not match', async () => {
  for (const text of [`A draft: ${CLEAN.replace('Ada', 'Bob')}\n\nThe final answer:\n\n${CLEAN}`, LARGE]) {
    const response = await post('parse', { text, explain: true }, 'explained');
    const { value, explanation } = (await response.json()) as Explained;
    expect(value['name']).toBe('Ada');
    const taken = explanation.candidates.filter(({ verdict }) => verdict === 'taken');
    expect(taken).toHaveLength(1);
    expect(taken[0]?.json).toBe(JSON.stringify(value).slice(0, taken[0]?.json?.length));
    const again = await (await post('parse', { text }, 'bare')).json();
    expect(isDeepStrictEqual(again, value)).toBe(true);
  }
  const failed = await post('parse', { text: '{"name": "Ada", "seniority": "wizard"}', explain: true }, 'unexplained');
  expect(failed.status).toBe(500);
  const { error, explanation } = (await failed.json()) as Explained;
  expect(error).toBe('validation_failure');
  const [candidate] = explanation.candidates;
  expect(candidate).toMatchObject({ verdict: 'mismatch', reasons: [{ path: 'seniority' }] });
});

/** The answer to a parse request with `explain`. */
interface Explained {
  readonly value: Readonly<Record<string, unknown>>;
  readonly error?: string;
  readonly explanation: {
    readonly candidates: ReadonlyArray<{ readonly verdict: string; readonly json?: string }>;
  };
}

test('callers that leave while svc parses their large replies delay no other caller', async () => {
  fake.answer(reply(LARGE));
  const aborts = Array.from({ length: 12 }, () => new AbortController());
  const left = aborts.map((abort, index) =>
    post('parse', { text: LARGE }, `left-${index}`, abort.signal).then(
      (response) => response.status,
      () => 'left',
    ),
  );
  for (const [index, abort] of aborts.entries()) setTimeout(() => abort.abort(), 20 + 10 * index);
  const stayed = await Promise.all([1, 2, 3].map((index) => post('call', { text: 'x' }, `stayed-${index}`)));
  expect(stayed.map((response) => response.status)).toEqual([200, 200, 200]);
  for (const end of await Promise.all(left)) expect([200, 'left']).toContain(end);
  const texts = await Promise.all(stayed.map((response) => response.json()));
  for (const value of texts) expect(isDeepStrictEqual(value, LARGE_VALUE)).toBe(true);
});
