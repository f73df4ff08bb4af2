import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compile } from '../../../../src/compiler/compile.ts';
import { signatureOf } from '../../../../src/dev/batch/input-rows.ts';
import { readDataRows, type DataFile } from '../../../../src/dev/testing/data/data-rows.ts';
import { SourceFile } from '../../../../src/diagnostics/source-file.ts';
import { indexDefinitions } from '../../../../src/schema/program.ts';
import { temporaryFolder } from '../../../support/running-server.ts';

const folder = temporaryFolder({});

const DEFINITIONS = `
enum Topic {
  Billing
  Other
}
class Place {
  city string?
  code int
}
class Note {
  topic Topic
  place Place?
  tags string[]
  texts map<string, string>
  urgent bool
  either int | string
}
class Open {
  name string
  @@dynamic
}
function Label(text: string, year: int?) -> Note {
  client "openai/gpt-4o"
  prompt #"{{ text }}{{ year }}"#
}
function Count(id: string, expected: string) -> int {
  client "openai/gpt-4o"
  prompt #"{{ id }}{{ expected }}"#
}
function Extend(text: string) -> Open {
  client "openai/gpt-4o"
  prompt #"{{ text }}"#
}
`;

const { program } = compile([new SourceFile('main.svc', DEFINITIONS)], {
  version: '0.1.0',
  versionCheck: false,
  beta: false,
  apiKey: false,
});

/** Refuses one argument, as a program would. */
const refusal: DataFile['refusal'] = ({ text }) =>
  text === 'bad'
    ? { code: 'invalid_argument', message: 'No.', details: [{ path: 'text', message: 'expected a good string' }] }
    : undefined;

/** The rows of a file, or the message of its failure. */
async function rowsOf(name: string, content: string, { functionName = 'Label', copy = [] as string[] } = {}) {
  const path = join(folder, name);
  writeFileSync(path, content);
  const fn = program?.functions.find((each) => each.name === functionName);
  const signature = program && signatureOf(program.openapi, functionName);
  if (program === undefined || fn === undefined || signature === undefined) throw new Error('no program');
  const definitions = indexDefinitions(program);
  const read = await readDataRows({ path, fn, definitions, signature, copy, refusal });
  return read.ok ? read.value : read.failure.replaceAll(`${folder}/`, '');
}

test('rows of CSV have arguments, expected fields of the types of the value, and copied columns', async () => {
  const csv = `id,text,year,expected.topic,expected.place.code,similar.place.city,expected.urgent,expected.either,source
a,Hello,5,Billing,7,null,TRUE,5,mail
b,There,,,,,,x,
`;
  expect(await rowsOf('a.csv', csv, { copy: ['source'] })).toEqual([
    {
      id: 'a',
      args: { text: 'Hello', year: 5 },
      expected: [
        { path: ['topic'], value: 'Billing', similar: false },
        { path: ['place', 'code'], value: 7, similar: false },
        { path: ['place', 'city'], value: null, similar: true },
        { path: ['urgent'], value: true, similar: false },
        { path: ['either'], value: 5, similar: false },
      ],
      columns: { source: 'mail' },
    },
    {
      id: 'b',
      args: { text: 'There' },
      expected: [{ path: ['either'], value: 'x', similar: false }],
      columns: { source: '' },
    },
  ]);
});

test('rows of JSON lines have JSON values, and the numbers of their lines in place of an id', async () => {
  const lines =
    '{"text":"a","expected":{"topic":"Other"}}\n\n{"text":"b","expected.tags[0]":"x","expected.texts.k":"y"}\n';
  expect(await rowsOf('a.jsonl', lines)).toEqual([
    { id: '1', args: { text: 'a' }, expected: [{ path: [], value: { topic: 'Other' }, similar: false }], columns: {} },
    {
      id: '3',
      args: { text: 'b' },
      expected: [
        { path: ['tags', '0'], value: 'x', similar: false },
        { path: ['texts', 'k'], value: 'y', similar: false },
      ],
      columns: {},
    },
  ]);
});

test('a column with the name of a parameter is the argument', async () => {
  expect(await rowsOf('a.csv', 'id,expected,similar\n7,x,5\n7,y,\n', { functionName: 'Count' })).toEqual([
    { id: '1', args: { id: '7', expected: 'x' }, expected: [{ path: [], value: 5, similar: true }], columns: {} },
    { id: '2', args: { id: '7', expected: 'y' }, expected: [], columns: {} },
  ]);
});

test('a dynamic class can have any expected field', async () => {
  expect(await rowsOf('a.csv', 'text,expected.more.x\na,"{""y"":1}"\n', { functionName: 'Extend' })).toMatchObject([
    { expected: [{ path: ['more', 'x'], value: { y: 1 } }] },
  ]);
});

test.each([
  ['txt\na\n', '"a.csv" cannot be read: the column "txt" is not a parameter of the function. Did you mean "text"?'],
  ['year\n5\n', '"a.csv" cannot be read: the column "text" is missing'],
  ['', '"a.csv" cannot be read: it has no header, which names the parameters'],
  ['text\n', '"a.csv" has no rows'],
  [
    'text,expected.topik\na,Other\nb,Other\n',
    '"a.csv" cannot be read: the column "expected.topik": the value of Label has no "topik". Did you mean "topic"?',
  ],
  [
    'text,expected.topic.x\na,Other\n',
    '"a.csv" cannot be read: the column "expected.topic.x": the value of Label has no "topic.x". It has no fields.',
  ],
])('%j is refused as a whole', async (csv, message) => {
  expect(await rowsOf('a.csv', csv)).toBe(message);
});

test('each row that cannot run is reported with its number and column', async () => {
  const csv = 'id,text,expected.place.code\n1,a,{\n1,a,2\n2,bad,2\n4,a,"""5"""\n1,a,3\n,a,3\n3,a\n';
  const failure = await rowsOf('a.csv', csv);
  expect(typeof failure === 'string' && failure.split('\n')).toEqual([
    '6 of 7 rows of "a.csv" cannot run:',
    expect.stringMatching(/^ {2}row 1: expected\.place\.code: is not valid JSON: ./u),
    '  row 3: text: expected a good string',
    '  row 4: expected.place.code: expected number, got string',
    '  row 5: id: "1" is the id of row 2, too',
    '  row 6: id: must be a string or a number',
    '  row 7: The row has 2 cells, but the header has 3.',
  ]);
  const lines = '{"text":1}\n{"text":"a","svc_options":{"client":"C"}}\n{"text":"a","more":1}\n'.repeat(5);
  expect(await rowsOf('a.jsonl', lines)).toContain('\n  row 2: svc_options: a row cannot have options.');
  expect(await rowsOf('a.jsonl', '{"text":"bad"}\n'.repeat(12))).toMatch(
    /^12 of 12 [^]*row 10: .*\n {2}… and 2 more$/u,
  );
});

test('a file that does not exist, or has another format, is refused', async () => {
  expect(await rowsOf('a.txt', '')).toBe('the name "a.txt" must end in .jsonl, .ndjson, .csv, .tsv');
});
