import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../support/assert-property.ts';
import { Redactor } from '../../src/logging/redactor.ts';

const SECRET = 'canary "quoted" \\ back/slash + ü';

test('a secret is found in plain form, in JSON, in JSON inside JSON, in a URL and in base64', () => {
  const redactor = new Redactor([SECRET]);
  const forms = [
    SECRET,
    JSON.stringify({ a: SECRET }),
    JSON.stringify({ a: JSON.stringify({ b: SECRET }) }),
    `https://host/?q=${encodeURIComponent(SECRET)}`,
    Buffer.from(SECRET).toString('base64'),
  ];
  for (const form of forms) {
    const clean = redactor.redact(form);
    expect(clean).toContain('[redacted]');
    expect(clean).not.toContain('canary');
  }
});

const SHAPES = [
  ['sk-proj-0123456789abcdef', 'an OpenAI key'],
  ['sk-ant-api03-0123456789', 'an Anthropic key'],
  ['Bearer abcdefgh.ijklmnop', 'a bearer token'],
  ['authorization: bearer abcdefghijk', 'a lower-case bearer token'],
  ['Basic dXNlcjpwYXNzd29yZA==', 'basic credentials'],
  ['https://h/v1?key=abcdefghij&x=1', 'a key in a query'],
  ['OPENAI_API_KEY=abcdefghij', 'a variable of a shell'],
  ['{"x-svc-api-key":"abcdefghij"}', 'the header of svc in JSON'],
  ['x-api-key: abcdefghij', 'a header as it is sent'],
  ['AIzaSyA0123456789012345678901234567890', 'a Google key'],
  ['AKIA0123456789ABCDEF', 'an AWS key id'],
] as const;

test.each(SHAPES)('%s is recognised although it is not configured: %s', (text) => {
  const redactor = new Redactor([]);
  for (const line of [text, `before ${text} after`, JSON.stringify({ msg: `line\n${text}\nline` })]) {
    const clean = redactor.redact(line);
    expect(clean).toContain('[redacted]');
    expect(clean).not.toMatch(/abcdefghij|0123456789|dXNlcjpw/u);
  }
});

test('similar words are not redacted', () => {
  const text = 'a risk-assessment-2024, the keyboard, basic 1, a task-management tool, monkey, Bearer of news';
  expect(new Redactor(['another secret']).redact(text)).toBe(text);
});

test('a JSON line stays valid even if the secret is a number in it', () => {
  const line = JSON.stringify({ ms: 123456, text: 'code 123456', key: 'sk-abcdefghijkl', deep: { a: ['key=abcdef'] } });
  const clean = new Redactor(['123456']).redact(line);
  expect(clean).not.toContain('123456');
  expect(JSON.parse(clean)).toEqual({ ms: 0, text: 'code 0', key: '[redacted]', deep: { a: ['key=[redacted]'] } });
});

test('special characters of patterns have no meaning in a secret', () => {
  expect(new Redactor(['a.c*e|(f)[g]']).redact('abcde a.c*e|(f)[g] b')).toBe('abcde [redacted] b');
});

test('no line contains the secret, whatever it is', () => {
  const secret = fc.string({ minLength: 6, maxLength: 40, unit: 'grapheme' }).filter((text) => !/^\s|\s$/u.test(text));
  assertProperty(
    fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
      const clean = new Redactor([value]).redact(JSON.stringify({ field: `${before}${value}${after}` }));
      expect(clean.replaceAll('[redacted]', '')).not.toContain(JSON.stringify(value).slice(1, -1));
    }),
  );
});
