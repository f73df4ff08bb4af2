import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepGrowth } from '../../support/count-steps.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { SseReader } from '../../../src/runtime/model/http/sse-reader.ts';

function read(chunks: readonly (string | Buffer)[], ends = true): readonly string[] {
  const events: string[] = [];
  const reader = new SseReader((text, start, end) => events.push(text.slice(start, end)));
  for (const chunk of chunks) reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  if (ends) reader.end();
  return events;
}

test.each<[string, readonly string[], readonly string[]]>([
  ['LF', ['data: a\n\ndata: b\n\n'], ['a', 'b']],
  ['CRLF', ['data: a\r\n\r\ndata: b\r\n\r\n'], ['a', 'b']],
  ['CR', ['data: a\r\rdata: b\r\r'], ['a', 'b']],
  ['CRLF cut between CR and LF', ['data: a\r', '\ndata: b\r', '\n\r', '\n'], ['a\nb']],
  ['a byte order mark', ['\uFEFFdata: a\n\n'], ['a']],
  ['comments', [': hello\ndata: a\n: more\n\n:\n\n'], ['a']],
  ['several data lines', ['data: a\ndata: b\n\n'], ['a\nb']],
  ['several data lines with CRLF', ['data: a\r\ndata: b\r\n\r\n'], ['a\nb']],
  ['no space after the colon', ['data:a\n\n'], ['a']],
  ['two spaces after the colon', ['data:  a\n\n'], [' a']],
  ['an empty data line', ['data:\n\n'], ['']],
  ['data without a colon', ['data\n\n'], ['']],
  ['other fields', ['event: x\nid: 1\nretry: 5\ndata: a\n\n'], ['a']],
  ['a field that only begins like data', ['database: a\n\n'], []],
  ['no blank line at the end', ['data: a\n'], ['a']],
  ['a line without end', ['data: a'], ['a']],
  ['a blank line in the next chunk', ['data: a\n', '\ndata: b\n\n'], ['a', 'b']],
  ['nothing', [''], []],
  ['only blank lines', ['\n\n\r\n\r\n'], []],
])('reads %s', (_name, chunks, events) => {
  expect(read(chunks)).toEqual(events);
});

test('an event without an end does not count if the body breaks off', () => {
  expect(read(['data: a\n\ndata: b\n'], false)).toEqual(['a']);
});

test('every cut of the bytes gives the same events', () => {
  const source = Buffer.from('\uFEFFdata: {"t":"ü€😀"}\r\n\r\n: c\ndata: b\ndata: c\n\ndata:\r\rdata: end');
  const whole = read([source]);
  expect(whole).toEqual(['{"t":"ü€😀"}', 'b\nc', '', 'end']);
  for (let at = 0; at <= source.length; at += 1)
    expect(read([source.subarray(0, at), source.subarray(at)])).toEqual(whole);
  expect(read([...source].map((byte) => Buffer.from([byte])))).toEqual(whole);
});

test('a text cut anywhere has the same events as the whole text', () => {
  const line = fc.constantFrom('data: a', 'data: é', 'data:', ': c', '', 'id: 1');
  const end = fc.constantFrom('\n', '\r\n', '\r');
  const text = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(''));
  assertProperty(
    fc.property(text, fc.array(fc.nat(60)), (source, cuts) => {
      const bytes = Buffer.from(source);
      const at = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((cut, index) => bytes.subarray(at[index], cut));
      expect(read(chunks)).toEqual(read([bytes]));
    }),
  );
});

test('a line that never ends is refused at the limit', () => {
  const reader = new SseReader(() => {});
  const chunk = Buffer.alloc(1024 * 1024, 97);
  let taken = 0;
  while (reader.push(chunk) && taken < 100) taken += 1;
  expect(taken).toBeLessThan(10);
});

test('data lines without a blank line are refused at the same limit', () => {
  const reader = new SseReader(() => {});
  const chunk = Buffer.from(`data: ${'a'.repeat(1024 * 1024)}\n`);
  let taken = 0;
  while (reader.push(chunk) && taken < 100) taken += 1;
  expect(taken).toBeLessThan(10);
});

test('steps grow with the bytes, whatever the size of the chunks', () => {
  const source = readFileSync(new URL(import.meta.url));
  const growth = stepGrowth(20_000, (chunks) => () => {
    const reader = new SseReader(() => {});
    reader.push(Buffer.from('data: '));
    for (let sent = 0; sent < chunks; sent += 1) reader.push(source.subarray(100, 103));
  });
  expect(growth.factor).toBeLessThan(2.2);
});
