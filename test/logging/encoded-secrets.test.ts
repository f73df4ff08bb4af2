import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countSteps } from '../support/count-steps.ts';
import { assertProperty } from '../support/assert-property.ts';
import { Redactor } from '../../src/logging/redactor.ts';
import { SecretMatcher } from '../../src/logging/secret-matcher.ts';

const SECRETS = [
  'canary-0123456789-value',
  'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  'p@ss w0rd!"\\<&>\'%41ü',
  'hunter',
  'a$b$c$d$e$',
  `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC/+7\n'.repeat(20)}-----END PRIVATE KEY-----`,
];

type Encode = (text: string) => string;

const percent = (byte: number) => `%${byte.toString(16).padStart(2, '0')}`;
const hexUnit = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, '0');
const json: Encode = (text) => JSON.stringify(text).slice(1, -1);
const bytes = (text: string) => [...Buffer.from(text)];

/** Encodings of characters, which can be applied to the results of each other. */
const ENCODINGS: Readonly<Record<string, Encode>> = {
  plain: (text) => text,
  url: encodeURIComponent,
  'url in lower case': (text) => encodeURIComponent(text).replaceAll(/%../gu, (escape) => escape.toLowerCase()),
  form: (text) => new URLSearchParams({ a: text }).toString().slice(2),
  'every byte in percent': (text) => bytes(text).map(percent).join(''),
  'every byte in upper percent': (text) => bytes(text).map(percent).join('').toUpperCase(),
  json,
  'json with slashes': (text) => json(text).replaceAll('/', String.raw`\/`),
  'json in ascii': (text) => json(text).replaceAll(/[^ -~]|[<>&']/gu, (unit) => String.raw`\u${hexUnit(unit)}`),
  'every unit in json': (text) => text.replaceAll(/[^]/gu, (unit) => String.raw`\u${hexUnit(unit)}`),
  html: (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  'every character in html': (text) =>
    [...text].map((each) => `&#x${(each.codePointAt(0) ?? 0).toString(16)};`).join(''),
};

const SECRET = fc.constantFrom(...SECRETS);
const ENCODE = fc.constantFrom(...Object.entries(ENCODINGS));

test.each(Object.entries(ENCODINGS))('a secret is masked as a whole: %s', (_, encode) => {
  for (const secret of SECRETS) {
    expect(new Redactor([secret]).redactValues(`before: ${encode(secret)} after`)).toBe('before: [redacted] after');
  }
});

test('a secret in three encodings, one inside the other, is masked', () => {
  assertProperty(
    fc.property(SECRET, ENCODE, ENCODE, ENCODE, (secret, [, first], [, second], [, third]) => {
      const encoded = third(second(first(secret)));
      expect(new Redactor(['another-secret', secret]).redactValues(`<${encoded}>`)).toBe('<[redacted]>');
    }),
  );
});

test('a long secret in three encodings is masked as a whole wherever it is in a long text', () => {
  const secret = SECRETS.at(-1) ?? '';
  const encode = ENCODINGS['every unit in json'] ?? String;
  const encoded = encode(ENCODINGS['every character in html']?.(encode(secret)) ?? '');
  for (let before = 0; before < 8; before += 1) {
    const around = '.'.repeat(before * 5_003);
    expect(new Redactor([secret]).redactValues(around + encoded)).toBe(`${around}[redacted]`);
  }
});

const AROUND = fc.string({ unit: 'grapheme', maxLength: 12 });

test('a secret in base64 of either alphabet, at any offset, keeps no digit of its own', () => {
  const alphabet = fc.constantFrom<'base64' | 'base64url'>('base64', 'base64url');
  const outer = fc.constantFrom<Encode>((text) => text, encodeURIComponent, json);
  assertProperty(
    fc.property(SECRET, fc.tuple(AROUND, AROUND), alphabet, outer, (secret, [before, after], digits, encode) => {
      const clean = new Redactor([secret]).redactValues(encode(Buffer.from(before + secret + after).toString(digits)));
      const rest = clean.replaceAll('[redacted]', '');
      const around = encode(Buffer.from(`${before}${after}==`).toString('base64')).length;
      expect(clean).toContain('[redacted]');
      expect(rest.length).toBeLessThanOrEqual(around + 16);
      for (let at = 0; at + 8 <= rest.length; at += 1) {
        const decoded = Buffer.from(rest.slice(at, at + 8), 'base64').toString('latin1');
        if (before.length + after.length === 0) expect(Buffer.from(secret).toString('latin1')).not.toContain(decoded);
      }
    }),
  );
});

test('a secret in hexadecimal of either case is masked', () => {
  for (const secret of SECRETS) {
    const hex = Buffer.from(secret).toString('hex');
    const redactor = new Redactor([secret]);
    expect(redactor.redactValues(`x ${hex}, ${hex.toUpperCase()}.`)).not.toMatch(/[\da-f]{9,}/iu);
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

test('a text without the secret stays as it is', () => {
  const redactor = new SecretMatcher(SECRETS);
  const text =
    'An order for 3 boxes: "A4, 80 g", 12 % off & free delivery — see https://shop.example/a?b=%20c&d=%3A.\n';
  expect(redactor.find(JSON.stringify({ text: text.repeat(50) }))).toEqual([]);
});

test('for hostile texts and secrets, the work grows with the length of the text only', () => {
  hostileSteps(100);
  const small = hostileSteps(10_000);
  expect(hostileSteps(40_000)).toBeLessThan(5 * small);
});

function hostileSteps(size: number): number {
  const redactor = new Redactor(Array.from({ length: 60 }, (_, index) => `${'a'.repeat(100 + index)}b`));
  const parts = ['a', '%61', '\\', '&#', '=:"', 'key="', 'token:{', '://a', 'eyJ', '-----BEGIN PRIVATE KEY-----'];
  const text = parts.map((part) => part.repeat(size)).join('');
  return countSteps(() => redactor.redact(text));
}
