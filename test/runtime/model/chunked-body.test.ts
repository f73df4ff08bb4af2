import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChunkedBody } from '../../../src/runtime/model/http/chunked-body.ts';
import { assertProperty } from '../../support/assert-property.ts';

interface Outcome {
  readonly content: string;
  /** What another reader has to read, with all bytes that follow. */
  readonly rest: string | undefined;
  readonly isBroken: boolean;
}

function read(pieces: readonly string[]): Outcome {
  const body = new ChunkedBody();
  let content = '';
  for (const [index, piece] of pieces.entries()) {
    const bytes = Buffer.from(piece, 'latin1');
    content += bytes.toString('latin1', 0, body.read(bytes));
    const { isBroken } = body;
    const later = pieces.slice(index + 1).join('');
    if (body.isOver) return { content, isBroken, rest: body.rest(bytes).toString('latin1') + later };
    if (isBroken) return { content, isBroken, rest: undefined };
  }
  return { content, isBroken: false, rest: undefined };
}

function chunk(content: string, size = content.length.toString(16)): string {
  return `${size}\r\n${content}\r\n`;
}

const LAST = '0\r\n\r\n';

test.each<[string, string, Partial<Outcome>]>([
  ['chunks and the last one', `${chunk('one')}${chunk(' two')}${LAST}`, { content: 'one two', rest: LAST }],
  ['capital digits and zeros', `${chunk('0123456789', '00A')}${LAST}`, { content: '0123456789', rest: LAST }],
  ['a chunk that is not complete', '5\r\nhel', { content: 'hel', rest: undefined }],
  ['a chunk with an extension', `${chunk('one')}3;a=b\r\ntwo\r\n`, { content: 'one', rest: '3;a=b\r\ntwo\r\n' }],
  ['trailers', `${chunk('one')}0\r\na: b\r\n\r\n`, { content: 'one', rest: '0\r\na: b\r\n\r\n' }],
  ['a size that is no number', `${chunk('one')}xyz\r\n`, { content: 'one', rest: 'xyz\r\n' }],
  ['a size that ends with LF', `${chunk('one')}3\ntwo\r\n`, { content: 'one', rest: '3\ntwo\r\n' }],
  ['a size without digits', `${chunk('one')}\r\ntwo`, { content: 'one', rest: '\r\ntwo' }],
  ['a size with too many digits', '100000000\r\nx', { content: '', rest: '100000000\r\nx' }],
  ['a chunk that is too short', '5\r\nhell\r\n', { content: 'hell\r', isBroken: true }],
  ['a chunk that is too long', '4\r\nhello\r\n', { content: 'hell', isBroken: true }],
  ['LF after a chunk', '5\r\nhello\n5\r\n', { content: 'hello', isBroken: true }],
])('%s: read alike wherever the bytes are cut', (_name, bytes, expected) => {
  const whole = read([bytes]);
  expect(whole).toEqual({ rest: undefined, isBroken: false, ...expected });
  for (let at = 0; at <= bytes.length; at += 1) expect(read([bytes.slice(0, at), bytes.slice(at)])).toEqual(whole);
  expect(read([...bytes])).toEqual(whole);
});

test('the content of any chunks, cut anywhere', () => {
  const contents = fc.array(
    fc.string({ minLength: 1, maxLength: 300, unit: fc.constantFrom('a', '0', '\r', '\n', '\u00ff') }),
  );
  assertProperty(
    fc.property(contents, fc.array(fc.nat(400)), (parts, lengths) => {
      const bytes = parts.map((part) => chunk(part)).join('') + LAST;
      const pieces: string[] = [];
      let from = 0;
      for (const length of lengths) {
        pieces.push(bytes.slice(from, from + length));
        from += length;
      }
      expect(read([...pieces, bytes.slice(from)])).toEqual({ content: parts.join(''), rest: LAST, isBroken: false });
    }),
  );
});
