import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { reply, status } from '../support/fake-provider.ts';
import { startProviderSuite } from '../support/provider-suite.ts';
import { inEmptyDirectory, svc, timeless } from './command-line.ts';

const USAGE = { usage: { prompt_tokens: 1000, completion_tokens: 100 } };
const { fake } = await startProviderSuite(reply('{"name": "Ada", "id": 9007199254740993}', USAGE));

inEmptyDirectory();

/** A function whose client needs a key, if `key` is its option. */
function definitions(key = ''): string {
  return `client<llm> Fake {
  provider openai-generic
  options {
    model m
    base_url "${fake.url}"
    ${key}
  }
}
class Person {
  name string
  id int
}
function Read(text: string, year: int?) -> Person {
  client Fake
  prompt #"{{ text }} {{ year }}{{ ctx.output_format }}"#
}
`;
}

beforeEach(() => {
  mkdirSync('svc_src');
  writeFileSync('svc_src/read.svc', definitions());
  writeFileSync('rows.jsonl', '{"text":"a"}\n{"text":"b","year":5}\n{"text":7}\n');
});

function batch(...args: readonly string[]): ReturnType<typeof svc> {
  return svc('batch', 'Read', '--in', 'rows.jsonl', '--out', 'answers.jsonl', ...args);
}

test('each row has a line with its value or its failure, its tokens and its cost', async () => {
  writeFileSync('prices.yaml', '- model: m\n  input: 2\n  output: 10\n');
  const ended = await batch('--prices', 'prices.yaml');
  expect(ended).toMatchObject({ code: 1, error: '' });
  const lines = readFileSync('answers.jsonl', 'utf8').split('\n');
  const used = '"usage":{"input_tokens":1000,"output_tokens":100},"cost":0.003';
  expect(lines[0]).toBe(`{"row":1,"value":{"name":"Ada","id":9007199254740993},${used}}`);
  expect(lines[1]).toContain('{"row":2,"value":');
  expect(JSON.parse(lines[2] ?? '')).toEqual({
    row: 3,
    error: {
      code: 'invalid_argument',
      message: expect.stringContaining('expected a string') as string,
      details: [{ path: 'text', message: 'expected a string, got an int' }],
    },
  });
  expect(timeless(ended)).toBe(
    '3 rows: 2 answered, 1 failed, in 0 ms, cost $0.006\n  invalid_argument: 1\nTo ask the failed rows again, add --retry-failed.\n',
  );
  expect(readdirSync('.').toSorted()).toEqual([
    'answers.jsonl',
    'answers.jsonl.batch.json',
    'prices.yaml',
    'rows.jsonl',
    'svc_src',
  ]);
});

test('the same command again asks nothing, and --retry-failed only the failed rows', async () => {
  await batch();
  fake.clear();
  expect((await batch()).out).toContain('2 answered, 1 failed');
  await batch('--retry-failed');
  expect(fake.requests).toEqual([]);
  fake.answer(status(500, { error: { message: 'down' } }));
  writeFileSync('rows.jsonl', '{"text":"a"}\n{"text":"b"}\n{"text":"c"}\n');
  expect(await batch('--accept-changes', '--retry-failed')).toMatchObject({ code: 1 });
  expect(fake.requests).toHaveLength(1);
  fake.answer(reply('{"name": "Bob", "id": 1}'));
  expect(await batch('--retry-failed')).toMatchObject({ code: 0 });
  expect(
    readFileSync('answers.jsonl', 'utf8')
      .split('\n')
      .map((line) => line.slice(0, 38)),
  ).toEqual([
    '{"row":1,"value":{"name":"Ada","id":90',
    '{"row":2,"value":{"name":"Ada","id":90',
    '{"row":3,"value":{"name":"Bob","id":1}',
    '',
  ]);
});

test('--limit asks about the first rows, and without it the batch goes on', async () => {
  expect((await batch('--limit', '1')).out).toMatch(/^1 row: 1 answered, 0 failed/u);
  expect(fake.requests).toHaveLength(1);
  expect((await batch()).out).toMatch(/^3 rows: 2 answered, 1 failed.*\(1 in earlier runs\)/u);
  expect(fake.requests).toHaveLength(2);
});

test('answers in CSV have a column for each field, with all digits of numbers', async () => {
  writeFileSync('rows.csv', 'year,text\n,"a, b"\nold,c\n');
  expect(await svc('batch', 'Read', '--in', 'rows.csv', '--out', 'answers.csv')).toMatchObject({ code: 1 });
  const [header, first, second] = readFileSync('answers.csv', 'utf8').split('\n');
  expect(header).toBe('svc_row,svc_error,svc_message,svc_details,svc_input_tokens,svc_output_tokens,svc_cost,name,id');
  expect(first).toBe('1,,,,1000,100,,Ada,9007199254740993');
  expect(second).toContain('2,invalid_argument,"The column ""year"" is not valid JSON:');
});

test('copied columns of the input join the answers to its rows, also of a row that fails', async () => {
  writeFileSync('rows.csv', 'id,text,year\nt-7,"a, b",\nt-8,c,old\n');
  const copy = ['--in', 'rows.csv', '--copy', 'id', '--copy', 'text'];
  await svc('batch', 'Read', ...copy, '--out', 'answers.jsonl');
  const lines = readFileSync('answers.jsonl', 'utf8').trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { readonly input: object }).input)).toEqual([
    { id: 't-7', text: 'a, b' },
    { id: 't-8', text: 'c' },
  ]);
  await svc('batch', 'Read', ...copy, '--out', 'answers.csv');
  const [header, first, second] = readFileSync('answers.csv', 'utf8').split('\n');
  expect(header).toMatch(/,svc_cost,input\.id,input\.text,name,id$/u);
  expect(first).toBe('1,,,,1000,100,,t-7,"a, b",Ada,9007199254740993');
  expect(second).toMatch(/^2,invalid_argument,.*,t-8,c,,$/u);
  expect((await svc('batch', 'Read', ...copy.slice(0, 4), '--out', 'answers.jsonl')).error).toContain(
    'the columns of --copy have changed since "answers.jsonl" was begun',
  );
});

test('a missing key stops the batch at once, without failed rows', async () => {
  writeFileSync('svc_src/read.svc', definitions('api_key env.NO_SUCH_KEY'));
  const ended = await batch('--concurrency', '1');
  expect(ended).toMatchObject({ code: 1 });
  expect(ended.error).toMatch(/^svc: the batch stopped: .*NO_SUCH_KEY.*\nRun the same command to continue\.\n$/su);
  expect(ended.out).toContain('3 not asked');
  expect(readFileSync('answers.jsonl', 'utf8')).toBe('');
});

test.each([
  [['Raed'], 'there is no function "Raed". Did you mean "Read"?'],
  [['Read', 'More'], 'too many arguments for "batch".'],
  [['Read', '--in', 'none.jsonl'], '--in: "none.jsonl" cannot be read: it does not exist'],
  [['Read', '--in', 'svc_src'], '--in: the name "svc_src" must end in .jsonl, .ndjson, .csv, .tsv'],
  [['Read', '--out', 'none/a.jsonl'], '"none/a.jsonl" cannot be written: its directory does not exist'],
  [['Read', '--out', 'rows.jsonl'], '--in and --out name the same file'],
  [['Read', '--server', 'nowhere'], '--server is "nowhere", but must be a URL, such as http://127.0.0.1:2024.'],
  [['Read', '--server', 'http://127.0.0.1:1'], 'the server http://127.0.0.1:1 cannot be reached: '],
  [['Read', '--server', 'http://127.0.0.1:1', '--prices', 'p'], '--prices has no effect on a server'],
  [['Read', '--in', 'rows.csv', '--copy', 'idd'], '"rows.csv" cannot be read: the column "idd" is missing'],
  [['Read', '--concurrency', '0'], '--concurrency is "0", but must be a whole number from 1 to 1000.'],
])('%j is bad usage', async (args, sentence) => {
  if (args.includes('rows.csv')) writeFileSync('rows.csv', 'text\na\n');
  if (args.includes('p')) writeFileSync('p', '- model: m\n  input: 2\n  output: 10\n');
  const ended = await svc(
    'batch',
    ...args.slice(0, 1),
    '--in',
    'rows.jsonl',
    '--out',
    'answers.jsonl',
    ...args.slice(1),
  );
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.error).toContain(`svc: ${sentence}`);
  expect(existsSync('answers.jsonl')).toBe(false);
});
