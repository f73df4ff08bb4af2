import fc from 'fast-check';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  delimiterOf,
  type InputRow,
  inputRows,
  NO_EXTRA,
  scanInput,
  type Signature,
  type ValueKind,
  splitRecords,
  type FileRecord,
  type SplitOptions,
} from '../../../src/dev/batch/input-rows.ts';
import { temporaryFolder } from '../../support/running-server.ts';
import { assertAsyncProperty } from '../../support/assert-property.ts';

const folder = temporaryFolder({});

function signature(parameters: Readonly<Record<string, readonly ValueKind[]>>): Signature {
  const entries = Object.entries(parameters).map(([name, kinds]) => [name, new Set(kinds)] as const);
  const required = entries.filter(([, kinds]) => !kinds.has('null')).map(([name]) => name);
  return { parameters: new Map(entries), required: new Set(required) };
}

const PERSON = signature({ name: ['string'], age: ['number', 'null'], tags: ['list', 'null'] });

function inputOf(name: string, content: string | Buffer, of = PERSON, extra = NO_EXTRA): ReturnType<typeof inputRows> {
  const path = join(folder, name);
  writeFileSync(path, content);
  const delimiter = delimiterOf(path);
  return inputRows({ path, delimiter: delimiter.ok ? delimiter.value : undefined, signature: of, extra });
}

/** The rows with their arguments, or the message of their failure. */
async function rowsOf(name: string, content: string | Buffer, of = PERSON): Promise<readonly unknown[]> {
  const rows: InputRow[] = [];
  for await (const row of inputOf(name, content, of)()) rows.push(row);
  return rows.map(({ row, read }) => {
    const { args } = read();
    return [row, args.ok ? args.value : args.failure.message];
  });
}

async function faultOf(content: string | Buffer): Promise<string> {
  const scanned = await scanInput(inputOf('a.csv', content), 'a.csv');
  return scanned.ok ? '' : scanned.failure;
}

test('rows of JSON lines have the numbers of their lines, and blank lines are no rows', async () => {
  expect(await rowsOf('a.jsonl', '\uFEFF{"name":"Ada"}\r\n\n  \n{"name":"Bob"}')).toEqual([
    [1, { name: 'Ada' }],
    [4, { name: 'Bob' }],
  ]);
});

test('a line that is not an object of arguments fails alone', async () => {
  const rows = await rowsOf('a.jsonl', Buffer.from('oops\n[1]\n{"a":"\xff"}\n{"name":"Ada"}\n', 'latin1'));
  expect(rows).toEqual([
    [1, expect.stringMatching(/^The row is not valid JSON: .+\.$/u)],
    [2, 'The row must be a JSON object with one key for each parameter.'],
    [3, 'The row is not valid UTF-8.'],
    [4, { name: 'Ada' }],
  ]);
});

test('a row cannot change the form of its answer', async () => {
  expect(await rowsOf('a.jsonl', '{"svc_options":{"include":["usage"]}}\n{"svc_options":{"client":"C"}}\n')).toEqual([
    [1, expect.stringContaining('cannot have "include"')],
    [2, { svc_options: { client: 'C' } }],
  ]);
});

test('the type of a parameter decides how a cell is read', async () => {
  const kinds = signature({
    text: ['string'],
    note: ['string', 'null'],
    count: ['number'],
    on: ['boolean', 'null'],
    list: ['list'],
    either: ['string', 'number'],
  });
  const csv = 'text,note,count,on,list,either\n12,,3,TRUE,"[1,2]",12\n,"",-0.5,,[],1a\n';
  expect(await rowsOf('a.csv', csv, kinds)).toEqual([
    [1, { text: '12', count: 3, on: true, list: [1, 2], either: 12 }],
    [2, { text: '', count: -0.5, list: [], either: '1a' }],
  ]);
});

test('a row of CSV with a wrong cell fails alone, with its column', async () => {
  expect(await rowsOf('a.csv', 'name,age\nAda,old\nBob\nCy,1\n')).toEqual([
    [1, expect.stringMatching(/^The column "age" is not valid JSON: /u)],
    [2, 'The row has 1 cells, but the header has 2.'],
    [3, { name: 'Cy', age: 1 }],
  ]);
  expect(await rowsOf('a.csv', 'count\n\n" "\n', signature({ count: ['number'] }))).toEqual([
    [1, 'The column "count" is empty.'],
  ]);
});

test('tabs separate the columns of .tsv, and cells can contain line breaks', async () => {
  expect(await rowsOf('a.tsv', 'name\tage\r\n"A\nda"\t1\r\nB "b"\t\r\n')).toEqual([
    [1, { name: 'A\nda', age: 1 }],
    [2, { name: 'B "b"' }],
  ]);
});

test.each([
  ['a.csv', 'id,name,age\n7,Ada,\n8,Bob,old\n'],
  ['a.jsonl', '{"id":"7","name":"Ada"}\n{"id":"8","name":"Bob","age":"old"}\n'],
])('an extra column of %s is not an argument unless it is a parameter', async (name, content) => {
  const rows: InputRow[] = [];
  const extra = { has: (column: string) => column === 'id' || column === 'name', required: ['id'] };
  for await (const row of inputOf(name, content, PERSON, extra)()) rows.push(row);
  const [first, second] = rows.map(({ read }) => read());
  expect(first).toEqual({ args: { ok: true, value: { name: 'Ada' } }, extra: { id: '7', name: 'Ada' } });
  expect(second?.extra).toEqual({ id: '8', name: 'Bob' });
});

test('a file without an extra column that must exist is refused', async () => {
  const extra = { has: (column: string) => column === 'id', required: ['id'] };
  const scanned = await scanInput(inputOf('a.csv', 'name\nAda\n', PERSON, extra), 'a.csv');
  expect(scanned).toEqual({ ok: false, failure: '"a.csv" cannot be read: the column "id" is missing' });
});

test('a file whose rows would all fail is refused as a whole', async () => {
  expect(await faultOf('nmae,age\nAda,1\n')).toBe(
    '"a.csv" cannot be read: the column "nmae" is not a parameter of the function. Did you mean "name"?',
  );
  expect(await faultOf('age\n1\n')).toBe('"a.csv" cannot be read: the column "name" is missing');
  expect(await faultOf('name,name\n')).toContain('the column "name" occurs twice');
  expect(await faultOf('')).toContain('it has no header');
  expect(await faultOf('name\nAda\n"Bob\nand more')).toContain('row 2 has a quote that is not closed');
  expect(await faultOf(Buffer.from('name\nJ\xfcrgen\n', 'latin1'))).toContain('it is not in UTF-8');
});

test.each([
  { name: 'a.jsonl', content: '{}\n\n{}\n', rows: 2, lastRow: 3 },
  { name: 'a.csv', content: `name\n${'Ada\n'.repeat(50_000)}\n`, rows: 50_000, lastRow: 50_000 },
])('a scan counts the rows of $name and hashes the file', async ({ name, content, rows, lastRow }) => {
  const scanned = await scanInput(inputOf(name, content), join(folder, name));
  expect(scanned).toEqual({ ok: true, value: { rows, lastRow, sha256: hash('sha256', content) } });
});

test('the end of a name states the format', () => {
  expect(delimiterOf('a.CSV')).toEqual({ ok: true, value: ',' });
  expect(delimiterOf('a.ndjson')).toEqual({ ok: true, value: undefined });
  expect(delimiterOf('rows.json')).toEqual({
    ok: false,
    failure: 'the name "rows.json" must end in .jsonl, .ndjson, .csv, .tsv',
  });
});

async function recordsOf(content: string | Buffer, options?: SplitOptions): Promise<readonly FileRecord[]> {
  const path = join(folder, 'file');
  writeFileSync(path, content);
  const records: FileRecord[] = [];
  for await (const record of splitRecords(path, options)) records.push(record);
  return records;
}

async function textsOf(content: string | Buffer, options?: SplitOptions): Promise<readonly string[]> {
  return (await recordsOf(content, options)).map(({ bytes }) => bytes.toString());
}

test('lines that cross the chunks of a file are whole', async () => {
  const lines = Array.from({ length: 5 }, (_, index) => String(index).repeat(100_000 + index));
  expect(await textsOf(lines.join('\n'))).toEqual(lines);
  const quoted = lines.map((line) => `"${line}\n${line}"`);
  expect(await textsOf(quoted.join('\n'), { quoted: true })).toEqual(quoted);
});

test('a record that is too long is empty, and the next one is whole', async () => {
  const records = await recordsOf(`${'x'.repeat(1_000_000)}\nshort\n`, { maxBytes: 1000 });
  expect(records.map(({ bytes, tooLong }) => [bytes.toString(), tooLong])).toEqual([
    ['', true],
    ['short', false],
  ]);
});

test('the records of any file, joined, are the file', async () => {
  const text = fc.stringMatching(/^[a"\n,]{0,40}$/u);
  await assertAsyncProperty(
    fc.asyncProperty(text, fc.boolean(), async (content, quoted) => {
      const records = await recordsOf(content, { quoted });
      const joined = records.map(({ bytes, ended }) => `${bytes.toString()}${ended ? '\n' : ''}`).join('');
      expect(joined).toBe(content);
      expect(records.at(-1)?.end ?? 0).toBe(content.length);
    }),
  );
});
