import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countSteps } from '../support/count-steps.ts';
import { assertProperty } from '../support/assert-property.ts';
import { Redactor } from '../../src/logging/redactor.ts';

const SECRETS = [
  'canary-0123456789-value',
  'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  'p@ss w0rd!"\\<&>\'%41ü',
  'hunter',
  'a$b$c$d$e$',
  `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC/+7\n'.repeat(20)}-----END PRIVATE KEY-----`,
];

type Encode = (text: string) => string;

const json: Encode = (text) => JSON.stringify(text).slice(1, -1);

/** The forms in which programs quote a secret. */
const FORMS: Readonly<Record<string, Encode>> = {
  plain: (text) => text,
  json,
  'json in json': (text) => json(json(text)),
  'json in json in json in json': (text) => json(json(json(json(text)))),
  'json with escaped slashes': (text) => json(text).replaceAll('/', String.raw`\/`),
  'json with escaped slashes in json': (text) => json(json(text).replaceAll('/', String.raw`\/`)),
  url: encodeURIComponent,
  'url in lower case': (text) => encodeURIComponent(text).replaceAll(/%../gu, (escape) => escape.toLowerCase()),
  form: (text) => new URLSearchParams({ a: text }).toString().slice(2),
};

test.each(Object.entries(FORMS))('a secret is masked as a whole: %s', (_, encode) => {
  for (const secret of SECRETS) {
    const redactor = new Redactor(['another-secret', secret]);
    expect(redactor.redactValues(`before: ${encode(secret)} after`)).toBe('before: [redacted] after');
  }
});

test('a secret is masked in base64 of either alphabet, with and without a line break after it', () => {
  for (const secret of SECRETS) {
    const redactor = new Redactor([secret]);
    for (const encoded of [secret, `${secret}\n`].flatMap((text) => [
      Buffer.from(text).toString('base64'),
      Buffer.from(text).toString('base64url'),
    ]))
      expect(redactor.redactValues(`<${encoded}>`)).toMatch(/^<\[redacted\][\w+/-]{0,3}={0,2}>$/u);
  }
});

test('every secret is masked, however many secrets there are, and wherever they are in a text', () => {
  const secrets = Array.from({ length: 500 }, (_, index) => `key-${index * 7919}-${'x'.repeat(index % 50)}`);
  const redactor = new Redactor(secrets);
  for (const [index, secret] of secrets.entries()) {
    const around = '.'.repeat(index);
    expect(redactor.redactValues(around + secret)).toBe(`${around}[redacted]`);
  }
});

test('a truncated secret shows fewer than 16 of its characters', () => {
  const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY0123456789abcdefghijklm';
  for (let length = 16; length < secret.length; length += 1) {
    const clean = new Redactor([secret]).redactValues(`key ${secret.slice(0, length)}`);
    expect(clean.startsWith('key [redacted]')).toBe(true);
    expect(clean.length - 'key [redacted]'.length).toBeLessThan(16);
  }
});

test('no line contains the secret, whatever it is', () => {
  const secret = fc.string({ minLength: 6, maxLength: 40, unit: 'grapheme' }).filter((text) => !/^\s|\s$/u.test(text));
  assertProperty(
    fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
      const clean = new Redactor([value]).redact(JSON.stringify({ field: `${before}${value}${after}` }));
      expect(clean.replaceAll('[redacted]', '')).not.toContain(json(value));
    }),
  );
});

test('a text without the secret stays as it is', () => {
  const text = JSON.stringify({
    text: 'An order for 3 boxes: "A4, 80 g", 12 % off & free — see https://shop.example/a?b=%20c&d=%3A.\n'.repeat(50),
  });
  expect(new Redactor(SECRETS).redact(text)).toBe(text);
});

test('a value that was asked for keeps an invented key, which a log line does not show', () => {
  const redactor = new Redactor(['canary-0123456789-value']);
  const text = 'canary-0123456789-value, sk-4f9Zq81Lw0Vt7Bx2';
  expect(redactor.redactValues(text)).toBe('[redacted], sk-4f9Zq81Lw0Vt7Bx2');
  expect(redactor.redact(text)).toBe('[redacted], [redacted]');
});

test('a JSON line stays valid whatever its secrets are and wherever they begin', () => {
  const line = fc.json({ maxDepth: 3 });
  assertProperty(
    fc.property(
      line,
      fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 4, max: 12 }),
      (text, places, length) => {
        const wrapped = JSON.stringify({ body: text, n: [1, 22, 333.5, -4e10] });
        // A part of a string that JSON text shows unchanged, as callers can send it.
        const secrets = places.map((place) => text.slice(place % (text.length + 1)).slice(0, length));
        expect(() => JSON.parse(new Redactor(secrets).redact(wrapped)) as unknown).not.toThrow();
      },
    ),
  );
});

test('a JSON line stays valid if a secret begins or ends inside an escape', () => {
  const line = JSON.stringify({ text: '\npm_4f9Zq81Lw0 a\\n ends"\u0001bcdef' });
  for (const secret of ['npm_4f9Zq81Lw0', String.raw`Lw0 a\\n ends${'\\'}`, '001bcdef'])
    expect(JSON.parse(new Redactor([secret]).redactValues(line))).toEqual({
      text: expect.stringContaining('[redacted]'),
    });
});

test('a JSON line stays valid even if the secret is a number in it', () => {
  const line = JSON.stringify({ ms: 123456, text: 'code 123456', key: 'sk-4f9Zq81Lw0Vt7Bx2', deep: { a: [1234567] } });
  const clean = new Redactor(['123456']).redact(line);
  expect(clean).not.toContain('123456');
  expect(JSON.parse(clean)).toEqual({ ms: 0, text: 'code 0', key: '[redacted]', deep: { a: [0] } });
});

test('a secret of fewer than six characters is not masked, since ordinary text contains it', () => {
  expect(new Redactor(['order', '']).redact('the order')).toBe('the order');
});

test('for hostile texts and secrets, the work grows with the length of the text only', () => {
  hostileSteps(100);
  const small = hostileSteps(10_000);
  expect(hostileSteps(40_000)).toBeLessThan(5 * small);
});

function hostileSteps(size: number): number {
  const redactor = new Redactor(Array.from({ length: 60 }, (_, index) => `${'a'.repeat(100 + index)}b`));
  const parts = ['a', 'aab', '%61', '\\', 'sk-', 'Bearer ', '://a', 'eyJ', '-----BEGIN PRIVATE KEY-----'];
  const text = parts.map((part) => part.repeat(size)).join('');
  return countSteps(() => redactor.redact(text));
}

test('the length of the secrets does not add to the work for a text', () => {
  secretSteps(100);
  expect(secretSteps(20_000)).toBeLessThan(2 * secretSteps(200));
});

function secretSteps(length: number): number {
  const redactor = new Redactor([`${'a'.repeat(length)}b`]);
  redactor.redactValues('');
  return countSteps(() => redactor.redactValues('a'.repeat(10_000)));
}
