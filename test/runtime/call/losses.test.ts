import { afterAll, expect, test } from 'vitest';
import { FunctionLibrary, type LibraryOptions } from '../../../src/runtime/call/function-library.ts';
import { warningsOf, type OnLoss, type Warning } from '../../../src/runtime/call/losses.ts';
import type { CallReport } from '../../../src/runtime/call/runtime.ts';
import { JsonReply } from '../../../src/runtime/reply/reply-parser.ts';
import {
  callFunction,
  compileText,
  parseText,
  streamFunction,
  testRuntime,
  valueOf,
} from '../../support/test-runtime.ts';
import { validatorSource } from '../../support/validators.ts';

const LOSSY_REPLY = '{"rows": [{"id": 1}, {"id": "x"}, {"note": "no id"}], "total": "many"}';
const LOSSY_VALUE = { rows: [{ id: 1 }], total: null };
const LOSSES = { dropped: 2, defaulted: 1 };
const WARNINGS: readonly Warning[] = [
  { path: 'rows[1]', message: 'at id: expected int, got the string "x"', kind: 'dropped' },
  { path: 'rows[2]', message: 'at id: the required field "id" is missing', kind: 'dropped' },
  { path: 'total', message: 'expected int, got the string "many"', kind: 'defaulted' },
];

const FILES = `
client<llm> Lossy {
  provider offline
  options { reply ${JSON.stringify(LOSSY_REPLY)}, chunk_size 8 }
}
client<llm> Exact {
  provider offline
  options { reply ${JSON.stringify('{"rows": [{"id": 7}], "total": 1}')} }
}
client<llm> Chain {
  provider fallback
  options { strategy [Lossy, Exact] }
}
class Row {
  id int
}
class Table {
  rows Row[]
  total int?
}
function Read(text: string) -> Table {
  client Lossy
  prompt #"{{ text }}"#
}
`;

const accepting = testRuntime(FILES);
const refusing = testRuntime(FILES, {}, { onLoss: 'refuse' });
const libraries: FunctionLibrary[] = [];

afterAll(async () => {
  for (const one of [accepting, refusing, ...libraries]) await one.close();
});

function library(options: Partial<LibraryOptions> = {}): FunctionLibrary {
  const program = compileText(FILES);
  const created = new FunctionLibrary(program, { validatorSource: validatorSource(program) }, { env: {}, ...options });
  libraries.push(created);
  return created;
}

function body(onLoss?: OnLoss): Readonly<Record<string, unknown>> {
  return { text: 'x', ...(onLoss === undefined ? {} : { svc_options: { on_loss: onLoss } }) };
}

const REFUSED = {
  code: 'validation_failure',
  message:
    'the value of the reply is lossy (dropped=2, defaulted=1), which this call refuses at rows[1]: was dropped: at id: expected int, got the string "x"',
  rawOutput: LOSSY_REPLY,
  losses: LOSSES,
  details: [
    { path: 'rows[1]', message: 'was dropped: at id: expected int, got the string "x"' },
    { path: 'rows[2]', message: 'was dropped: at id: the required field "id" is missing' },
    { path: 'total', message: 'became null: expected int, got the string "many"' },
  ],
};

test('a lossy value is the value of a call, and the report counts what it lacks', async () => {
  const { result, report } = await callFunction(accepting, 'Read', body());
  expect(result.ok && result.value.value).toEqual(LOSSY_VALUE);
  expect(result.ok && warningsOf(result.value)).toEqual({ list: WARNINGS, more: 0 });
  expect(report.losses).toEqual(LOSSES);
});

test.each([
  ['by the setting', refusing, undefined],
  ['by the options of the request', accepting, 'refuse'],
] as const)('a lossy value is refused %s: in a call, a stream and a parse request', async (_, runtime, onLoss) => {
  const called = await callFunction(runtime, 'Read', body(onLoss));
  expect(called.result).toEqual({ ok: false, failure: REFUSED });
  const counted: Partial<CallReport> = { losses: LOSSES, flags: [] };
  expect(called.report).toMatchObject({ ...counted, attempts: [{ client: 'Lossy', outcome: 'validation_failure' }] });
  const { events, outcome } = await streamFunction(runtime, 'Read', body(onLoss));
  expect(events.length).toBeGreaterThan(0);
  expect(outcome.result).toEqual({ ok: false, failure: REFUSED });
  const options = onLoss === undefined ? {} : { svc_options: { on_loss: onLoss } };
  expect(await parseText(runtime, 'Read', LOSSY_REPLY, options)).toEqual({ ok: false, failure: REFUSED });
});

test('a request can accept losses that the setting refuses', async () => {
  expect(valueOf(await callFunction(refusing, 'Read', body('accept')))).toEqual(LOSSY_VALUE);
  const parsed = await parseText(refusing, 'Read', LOSSY_REPLY, { svc_options: { on_loss: 'accept' } });
  expect(parsed.ok && parsed.value.value).toEqual(LOSSY_VALUE);
});

test('a value without losses is never refused', async () => {
  const parsed = await parseText(refusing, 'Read', '```\n{rows: [{id: "1", more: 2}], total: "n/a"}\n```');
  expect(parsed.ok && parsed.value.json).toBe('{"rows":[{"id":1}],"total":null}');
});

test('after a refused value, a fallback client asks its next member', async () => {
  const options = { client: 'Chain', on_loss: 'refuse' };
  const { result, report } = await callFunction(accepting, 'Read', { text: 'x', svc_options: options });
  expect(result.ok && result.value.json).toBe('{"rows":[{"id":7}],"total":1}');
  expect(report.attempts.map(({ outcome }) => outcome)).toEqual(['validation_failure', 'ok']);
  expect(report.losses).toEqual({ dropped: 0, defaulted: 0 });
});

test.each([
  [{ on_loss: 'fail' }, 'svc_options.on_loss', 'has to be "accept" or "refuse"'],
  [{ include: 'warnings' }, 'svc_options.include', 'has to be a list'],
  [
    { include: ['warnings', 'flags'] },
    'svc_options.include[1]',
    'has to be "warnings", "usage", "client", "attempts", "raw", "reasoning", "prompt" or "timing"',
    'has to be "warnings"',
  ],
])('options %j are refused', (options, path, message, ofReply = message) => {
  const failure = (each: string): object => ({ code: 'invalid_options', details: [{ path, message: each }] });
  const request = { text: 'x', svc_options: options };
  expect(accepting.prepare('Read', request)).toMatchObject({ ok: false, failure: failure(message) });
  expect(accepting.prepareReply('Read', request)).toMatchObject({ ok: false, failure: failure(ofReply) });
});

test('a call in process receives warnings, and refuses losses by its own setting or that of the library', async () => {
  const calls: unknown[] = [];
  const onWarnings = (...report: readonly unknown[]): void => void calls.push(report);
  const functions = library();
  expect(await functions.call('Read', { text: 'x' }, { onWarnings })).toEqual(LOSSY_VALUE);
  for await (const event of functions.stream('Read', { text: 'x' }, { onWarnings })) {
    if (event.type === 'final') expect(event.value).toEqual(LOSSY_VALUE);
  }
  expect(calls).toEqual([
    [WARNINGS, LOSSES],
    [WARNINGS, LOSSES],
  ]);
  await functions.call('Read', { text: 'x' }, { client: 'Exact', onWarnings });
  expect(calls).toHaveLength(2);
  const refused = { code: 'validation_failure', failure: { losses: LOSSES } };
  await expect(functions.call('Read', { text: 'x' }, { onLoss: 'refuse' })).rejects.toMatchObject(refused);
  const strict = library({ onLoss: 'refuse' });
  await expect(strict.call('Read', { text: 'x' })).rejects.toMatchObject(refused);
  expect(await strict.call('Read', { text: 'x' }, { onLoss: 'accept' })).toEqual(LOSSY_VALUE);
});

test('warnings are limited to 100, and the rest is counted', async () => {
  const rows = Array.from({ length: 250 }, () => '"x"').join();
  const parsed = await parseText(refusing, 'Read', `{"rows": [{"id": 1}, ${rows}], "total": 1}`);
  const details = parsed.ok || parsed.failure.code !== 'validation_failure' ? [] : parsed.failure.details;
  expect(details).toHaveLength(101);
  expect(details.at(-1)).toEqual({ path: '', message: 'and 150 more losses' });
  const flags = [{ flag: 'first-of-list', path: '', detail: 'why', losses: { dropped: 9, defaulted: 0 } }];
  const { list, more } = warningsOf(new JsonReply('1', flags, { dropped: 9, defaulted: 4 }));
  expect({ list, more }).toEqual({ list: [{ path: '', message: 'why', kind: 'dropped' }], more: 4 });
});
