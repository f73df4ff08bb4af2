import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { dataDefinitions } from '../support/data-definitions.ts';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { inEmptyDirectory, svc, timeless } from './command-line.ts';

inEmptyDirectory();

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());

/** A is right except about Cyd, and fails for Dan; B is right except about Bob. */
const AGES = {
  a: (age: number) => (age === 50 ? undefined : age === 40 ? 4 : age),
  b: (age: number) => (age === 30 ? 3 : age === 50 ? undefined : age),
};

const ROWS = `id,text,expected.name,expected.age,source
ada,"Ada, 20",Ada,20,mail
bob,"Bob, 30",Bob,30,mail
cyd,"Cyd, 40",Cyd,40,form
dan,"Dan, 50",Dan,50,form
`;

beforeEach(() => {
  provider.clear();
  mkdirSync('svc_src');
  writeFileSync('svc_src/main.svc', dataDefinitions(provider, 'data', AGES));
  writeFileSync('.env', 'FAKE_KEY=key-of-this-test-0123456789\n');
  writeFileSync('rows.csv', ROWS);
});

function data(...args: readonly string[]): ReturnType<typeof svc> {
  return svc('test', '--data', 'rows.csv', '--copy', 'source', '--function', 'Read', ...args);
}

interface Run {
  readonly status: string;
  readonly reasons: readonly string[];
  readonly score?: boolean | number;
}

interface Report {
  readonly variants: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly comparisons: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly rows: ReadonlyArray<{ readonly id: string; readonly runs: readonly Run[] }>;
}

async function json(...args: readonly string[]): Promise<Report> {
  return JSON.parse((await data(...args, '--format', 'json')).out) as Report;
}

test('rows with expected fields are reported for people, without an end at a row that fails', async () => {
  const ended = await data();
  expect({ code: ended.code, error: ended.error, out: timeless(ended) }).toEqual({
    code: 1,
    error: '',
    out: `Read on rows.csv: 4 rows, all must pass
checks: expected values of 4 rows

passed          2 of 4 (50.0 %)
95 % interval   15.0 % to 85.0 %
mean latency    0 ms
95 % within     0 ms
tokens in, out  3000, 300

failing
  cyd  age: expected 40, got 4
  dan  The client "A" answered 500: down
`,
  });
});

test('--pass-rate states how many rows have to pass', async () => {
  expect(await data('--pass-rate', '50%')).toMatchObject({ code: 0 });
  expect(await data('--pass-rate', '51%')).toMatchObject({ code: 1 });
});

test('two clients are compared row by row', async () => {
  writeFileSync('prices.yaml', '- model: m\n  input: 2\n  output: 10\n');
  const ended = await data('--client', 'A', '--client', 'B', '--prices', 'prices.yaml');
  // The width of a column depends on the times in it.
  expect(timeless(ended).replaceAll(/(?<=\S) {2,}/gu, '  ')).toBe(`Read on rows.csv: 4 rows, all must pass
checks: expected values of 4 rows

                A  B
passed  2 of 4 (50.0 %)  2 of 4 (50.0 %)
95 % interval  15.0 % to 85.0 %  15.0 % to 85.0 %
mean latency  0 ms  0 ms
95 % within  0 ms  0 ms
tokens in, out  3000, 300  3000, 300
cost  $0.009 (known for 3 of 4 rows)  $0.009 (known for 3 of 4 rows)

B compared with A: 1 row better, 1 worse, 2 the same; +0.0 points, p = 1.000

worse with B
  bob  age: expected 30, got 3

better with B
  cyd  age: expected 40, got 4

failing with all
  dan  A: The client "A" answered 500: down
    B: The client "B" answered 500: down
`);
});

test('--against compares with another version of the definitions, which does not decide the exit code', async () => {
  mkdirSync('before');
  writeFileSync('before/main.svc', dataDefinitions(provider, 'before', { a: (age) => age + 1, b: (age) => age }));
  writeFileSync('svc_src/main.svc', dataDefinitions(provider, 'now', { a: (age) => age, b: (age) => age }));
  const ended = await data('--against', 'before');
  expect(ended.code).toBe(0);
  expect(ended.out).toContain(
    'current compared with before: 4 rows better, 0 worse, 0 the same; +100.0 points, p = 0.125',
  );
  expect(ended.out).not.toContain('failing');
  expect(provider.requests).toHaveLength(8);
});

test('the conditions of tests that an option names apply to each row', async () => {
  const named = await json('--name', 'Named', '--name', 'Adult');
  expect(named.rows.map(({ runs: [run] }) => run?.reasons)).toEqual([
    [],
    ['@@check(ada) does not hold: this.name == "Ada"'],
    ['@@assert(adult) does not hold: this.age > 17', 'age: expected 40, got 4'],
    ['The client "A" answered 500: down'],
  ]);
  const lenient = await json('-i', 'Read::Named', '--allow-failed-checks');
  expect(lenient.rows.map(({ runs: [run] }) => run?.status)).toEqual(['passed', 'passed', 'failed', 'error']);
});

test('a judge that returns a bool or a number decides with the other checks', async () => {
  const bool = await json('--judge', 'IsAdult');
  expect(bool.rows.map(({ runs: [run] }) => [run?.status, run?.score])).toEqual([
    ['passed', true],
    ['passed', true],
    ['failed', false],
    ['error', undefined],
  ]);
  expect(bool.rows[2]?.runs[0]?.reasons).toContain('the judge returns false');
  const prompts = provider.requests.filter(({ path }) => path.includes('data-j')).map(({ body }) => body);
  expect(prompts).toHaveLength(3);
  expect(prompts.find((body) => body.includes('Cyd'))).toMatch(/Cyd, 40 .*Cyd.*4.*Cyd.*40/su);
  const graded = await json('--judge', 'Grade', '--judge-pass', '2.5');
  expect(graded.rows.map(({ runs: [run] }) => run?.score)).toEqual([4, 4, 2, undefined]);
  expect(graded.variants[0]).toMatchObject({ passed: 2, mean_score: 10 / 3 });
});

test('a judge is asked once about equal values of two clients', async () => {
  await data('--client', 'A', '--client', 'B', '--judge', 'IsAdult');
  expect(provider.requests.filter(({ path }) => path.includes('data-j'))).toHaveLength(5);
});

test('a judge without an answer is an error of its row', async () => {
  writeFileSync('svc_src/main.svc', readFileSync('svc_src/main.svc', 'utf8').replace('data-j', 'nowhere/at/all'));
  const report = await json('--judge', 'IsAdult');
  expect(report.rows[0]?.runs[0]).toMatchObject({
    status: 'error',
    reasons: [expect.stringMatching(/^the judge fails: /u)],
  });
});

test.each([
  [
    'Odd(value: string) -> bool',
    '"Odd" has the parameter "value", but the parameters of a judge are called input, output, expected',
  ],
  ['Odd(output: int) -> bool', 'the parameter "output" of "Odd" is int. Declare it as string or Person'],
  [
    'Odd(expected: Person) -> int',
    '"Odd" needs an expected value, which the row "cyd" lacks. Add it, or make the parameter',
  ],
])('the judge %s is refused before any call', async (signature, sentence) => {
  appendFileSync('svc_src/main.svc', `function ${signature} {\n  client J\n  prompt #"{{ ctx.output_format }}"#\n}\n`);
  writeFileSync('rows.csv', ROWS.replace('"Cyd, 40",Cyd,40', '"Cyd, 40",,'));
  const ended = await data('--judge', 'Odd');
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.error).toContain(`svc: --judge: ${sentence}`);
  expect(provider.requests).toEqual([]);
});

test('rows with the same arguments have recorded replies of their own', async () => {
  writeFileSync('rows.csv', 'text,expected.age\n"Ada, 20",20\n"Ada, 20",20\n');
  const sometimes = [20, 21];
  provider.at('data-a', async (request, wire) => {
    await reply(JSON.stringify({ name: 'Ada', age: sometimes.shift() }))(request, wire);
  });
  const flags = ['test', '--data', 'rows.csv', '--function', 'Read', '--parallel', '1', '--format', 'json'];
  const recorded = await svc(...flags, '--record', 'replies');
  expect(JSON.parse(recorded.out)).toMatchObject({ variants: [{ rows: 2, passed: 1 }], failing: ['2'] });
  expect(await svc(...flags, '--replay', 'replies')).toEqual(recorded);
});

test('after an interrupt, the rows that ended are reported', async () => {
  provider.at('data-a', async (request, wire) => {
    if (!request.body.includes('Cyd')) await reply('{"name": "Ada", "age": 20}')(request, wire);
  });
  const running = data('--parallel', '1', '--format', 'json');
  await expect.poll(() => provider.requests.some(({ body }) => body.includes('Cyd'))).toBe(true);
  process.emit('SIGINT');
  const { code, out } = await running;
  expect(code).toBe(130);
  const report = JSON.parse(out) as Report;
  expect(report).toMatchObject({ interrupted: true, variants: [{ rows: 2, passed: 1 }], failing: ['bob'] });
  expect(report.rows.map(({ runs: [run] }) => run?.status)).toEqual(['passed', 'failed', undefined, undefined]);
});

test('the reports in files have every row, in the order of the rows', async () => {
  const clients = ['--client', 'A', '--client', 'B', '--parallel', '4'];
  const report = await json(...clients);
  expect(report.rows.map(({ id, runs }) => [id, ...runs.map(({ status }) => status)])).toEqual([
    ['ada', 'passed', 'passed'],
    ['bob', 'passed', 'failed'],
    ['cyd', 'failed', 'passed'],
    ['dan', 'error', 'error'],
  ]);
  expect(report.rows[2]).toMatchObject({
    args: { text: 'Cyd, 40' },
    expected: { name: 'Cyd', age: 40 },
    columns: { source: 'form' },
    runs: [{ value: { name: 'Cyd', age: 4 }, prompt: [{ role: 'system' }], reply: '{"name":"Cyd","age":4}' }, {}],
  });
  expect(report.comparisons).toEqual([
    { baseline: 'A', candidate: 'B', rows: 4, p: 1, better: ['cyd'], worse: ['bob'] },
  ]);
  const ended = await data(...clients, '--format', 'csv', '--out', 'report.csv');
  expect(ended.out).toContain('Read on rows.csv');
  const lines = parse(readFileSync('report.csv'), { columns: true }) as ReadonlyArray<Record<string, string>>;
  expect(lines).toHaveLength(8);
  expect(lines[4]).toMatchObject({
    id: 'cyd',
    variant: 'A',
    status: 'failed',
    reasons: 'age: expected 40, got 4',
    expected: '{"name":"Cyd","age":40}',
    value: '{"name":"Cyd","age":4}',
    input_tokens: '1000',
    'input.source': 'form',
  });
  const junit = (await data(...clients, '--format', 'junit')).out;
  expect(junit).toContain('<testsuite name="Read (A)" tests="4" failures="1" errors="1" skipped="0"');
  expect(junit).toContain('<testcase classname="Read" name="cyd (A)"');
  expect(junit).toContain('<failure message="age: expected 40, got 4" type="row">');
});

test('the page of results escapes every text, and loads nothing', async () => {
  writeFileSync('rows.csv', 'text,source\n"<img src=x>, 5","</td><script>alert(1)</script>"\n');
  const { out } = await data('--format', 'html');
  expect(out).toMatch(/^<!doctype html>/u);
  expect(out).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(out).not.toMatch(/<script|<img|<link|src=x>|https?:|url\(/u);
  expect(out).toContain('color-scheme');
});

const READ = ['--data', 'rows.csv', '--function', 'Read'];

test.each([
  [['--data', 'rows.csv'], '--data runs one function, but there are 4: Read, IsAdult, Grade, Confused. Add --function'],
  [['--data', 'rows.csv', '--function', 'Raed'], '--function: there is no function "Raed". Did you mean "Read"?'],
  [['--data', 'rows.csv', '--function', 'Read', '--judge', 'Read'], '--data: the options leave no function to run'],
  [['--data', 'none.csv', '--function', 'Read'], '--data: "none.csv" cannot be read: it does not exist'],
  [READ, '--data: "rows.csv" cannot be read: the column "source" is not a parameter of the function.'],
  [[...READ, '--judge', 'Grad'], '--judge: there is no function "Grad". Did you mean "Grade" or "Read"?'],
  [[...READ, '--judge', 'Confused'], '--judge: "Confused" returns string, but a judge returns bool, int or float'],
  [[...READ, '--name', 'Nmaed'], 'found no tests: none of the 2 in the definitions is selected.'],
  [[...READ, '--client', 'C'], '--client: there is no client "C"'],
  [[...READ, '--against', 'nowhere'], '--against: "nowhere" does not exist'],
  [[...READ, '--against', '.', '--client', 'A', '--client', 'B'], '--against compares two versions with one client'],
  [[...READ, '--list'], '--data <rows>'],
  [[...READ, '--repeat', '2'], '--data <rows>'],
  [['--judge', 'Grade'], '--judge needs --data'],
  [['--against', 'before'], '--against needs --data'],
  [['--copy', 'id'], '--copy needs --data'],
  [['--format', 'html'], '--format html needs --data'],
  [[...READ, '--judge-pass', 'x'], '--judge-pass is "x", but must be a number such as 0.5.'],
])('%j is refused before any call', async (args, sentence) => {
  const own = sentence.includes('"source"') ? [] : ['--copy', 'source'];
  const ended = await svc('test', ...args, ...(args.includes('--data') ? own : []));
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.error).toContain(`svc: `);
  expect(ended.error).toContain(sentence);
  expect(provider.requests).toEqual([]);
});

test('rows that do not fit the parameters are refused before any call', async () => {
  writeFileSync('rows.jsonl', '{"text":"Ada, 20"}\n{"text":7}\n{"texts":"a"}\n');
  const ended = await svc('test', '--data', 'rows.jsonl', '--function', 'Read');
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.error).toBe(`svc: --data: 2 of 3 rows of "rows.jsonl" cannot run:
  row 2: text: expected a string, got an int
  row 3: text: missing: expected a string; texts: unknown parameter "texts". Did you mean "text"?
`);
  expect(provider.requests).toEqual([]);
});
