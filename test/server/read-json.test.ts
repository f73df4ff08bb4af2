import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countSteps } from '../support/count-steps.ts';
import { bodyProblem, readJson, textOf } from '../../src/server/http/read-json.ts';
import { excessOfJson } from '../../src/base/json-text.ts';
import { assertProperty } from '../support/assert-property.ts';

function excess(text: string): string | undefined {
  return excessOfJson(Buffer.from(text), 50_000);
}

function message(text: string): string {
  const bytes = Buffer.from(text);
  const fault = bodyProblem(bytes);
  if (fault !== undefined) return fault.message;
  const read = readJson(textOf(bytes));
  return read.ok ? 'ok' : read.failure.message;
}

const DIGITS = '1'.repeat(300_000);

test.each([
  ['an integer', `{"n":${DIGITS}}`, 5],
  ['a negative integer', `{"n":-${DIGITS}}`, 5],
  ['a fraction', `{"n":0.${DIGITS}}`, 5],
  ['zeros behind a point', `{"n":1.${'0'.repeat(300_000)}}`, 5],
  ['an exponent', `{"n":1e${DIGITS}}`, 5],
  ['a number in a list in the options', `{"svc_options":{"a":[1, ${DIGITS}]}}`, 24],
])('a number of 300,000 digits is refused before JSON.parse: %s', (_what, text, position) => {
  expect(message(text)).toBe(`The body contains a number longer than 400 characters at position ${position}.`);
});

test('every double passes, however it is written', () => {
  const written = [
    Number.MAX_VALUE.toLocaleString('en', { useGrouping: false }),
    (5e-324).toFixed(100),
    '-1.5e-300',
    '1E+2',
  ];
  const text = `{"n":[${Array.from({ length: 50 }, () => written.join()).join()}]}`;
  expect(message(text)).toBe('ok');
  expect(message(`{"n":"${DIGITS}", "${DIGITS}":1}`)).toBe('ok');
});

function list(item: string, count: number): string {
  return `{"a":[${Array.from({ length: count }, () => item).join()}]}`;
}

test('a body has at most 50,000 values, empty lists and objects included', () => {
  expect(message(list('1', 49_999))).toBe('ok');
  for (const item of ['1', '"a"', '[]', '{}', '{"a":1}']) {
    const refused = 'The body has more than 50000 values in its objects and lists.';
    expect(message(list(item, 50_001))).toBe(refused);
  }
  expect(message(`{"a":"${',[{'.repeat(100_000)}"}`)).toBe('ok');
});

function deep(levels: number): string {
  return `{"a":${'['.repeat(levels - 1)}${' '.repeat(300)}${']'.repeat(levels - 1)}}`;
}

test('a body has at most 128 levels', () => {
  expect(message(deep(128))).toBe('ok');
  expect(message(deep(129))).toBe('The body is nested deeper than 128 levels.');
});

test('no JSON within the limits is refused, and its strings do not matter', () => {
  assertProperty(
    fc.property(fc.json({ maxDepth: 20 }), fc.string({ unit: 'binary' }), (json, text) => {
      const padding = ' '.repeat(300);
      expect(excess(`{"a":${json}${padding},${JSON.stringify(`${text}\\"[{`)}:1}`)).toBeUndefined();
    }),
  );
});

test('long strings hide none of the values around them, wherever they have quotes and backslashes', () => {
  const run = fc.nat({ max: 300 }).map((length) => 'x'.repeat(length));
  const part = fc.oneof(run, fc.constantFrom('"', '\\', '\\"', ',[{'));
  const text = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(''));
  assertProperty(
    fc.property(fc.array(text, { minLength: 2, maxLength: 20 }), (texts) => {
      const bytes = Buffer.from(JSON.stringify(texts) + ' '.repeat(300));
      expect(excessOfJson(bytes, texts.length)).toBeUndefined();
      expect(excessOfJson(bytes, texts.length - 1)).toContain('more than');
    }),
  );
});

test('bodies that hit a limit cost no more than the part up to it', () => {
  const open = Buffer.from('['.repeat(10_000_000));
  expect(countSteps(() => bodyProblem(open))).toBeLessThan(50_000);
});
