import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitRecords, type FileRecord, type SplitOptions } from '../../../src/dev/batch/input-rows.ts';
import { assertAsyncProperty } from '../../support/assert-property.ts';
import { temporaryFolder } from '../../support/running-server.ts';

const folder = temporaryFolder({});

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
