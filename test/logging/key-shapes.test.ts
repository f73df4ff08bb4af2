import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskKeys } from '../../src/logging/redactor.ts';
import { assertProperty } from '../support/assert-property.ts';

const RANDOM = '4f9Zq81Lw0Vt7Bx2Kd5Jh3Gy6';

const KEYS = [
  `sk-proj-${RANDOM}`,
  `rk-${RANDOM}`,
  `pk-lf-${RANDOM}`,
  'sk-proj-****Zq81',
  `sk_live_${RANDOM}`,
  `AIza${RANDOM}`,
  `ya29.${RANDOM}`,
  `ghp_${RANDOM}`,
  `github_pat_${RANDOM}`,
  `glpat-${RANDOM}`,
  `gsk_${RANDOM}`,
  `hf_${RANDOM}`,
  `npm_${RANDOM}`,
  `nvapi-${RANDOM}`,
  `pplx-${RANDOM}`,
  `svc_${RANDOM}`,
  `whsec_${RANDOM}`,
  `xai-${RANDOM}`,
  `xoxb-${RANDOM}`,
  'AKIAZQ81LWVTBXKDJHGY',
  'ASIAZQ81LWVTBXKDJHGY',
  `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxZq81In0.${RANDOM}`,
  '-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADAN\nZq81B==\n-----END RSA PRIVATE KEY-----',
];

test.each(KEYS)('%s is masked', (key) => {
  for (const text of [key, `at the end ${key}`, `see (${key}), please`, `line\n${key}\nline`, `%20${key}`]) {
    const clean = maskKeys(text);
    expect(clean).toBe(text.replace(key, '[redacted]'));
    for (const written of [JSON.stringify(text), JSON.stringify(JSON.stringify(text))]) {
      expect(maskKeys(written)).toContain('[redacted]');
      expect(maskKeys(written)).not.toContain('Zq81');
    }
  }
});

test('a truncated private key is masked', () => {
  expect(maskKeys('see -----BEGIN PRIVATE KEY-----\nMIIEvQIZq81')).toBe('see [redacted]');
});

test.each([
  [`authorization: Bearer ${RANDOM}.x`, 'authorization: Bearer [redacted]'],
  [`bearer ${RANDOM}`, 'bearer [redacted]'],
  [`BEARER ${RANDOM}`, 'BEARER [redacted]'],
  ['Basic dXNlcjpwYXNzd29yZA==', 'Basic [redacted]'],
  ['basic dXNlcjpwYXNzd29yZA==', 'basic [redacted]'],
  ['BASIC dXNlcjpwYXNzd29yZA==', 'BASIC [redacted]'],
  ['postgres://user:pa@ss@db.internal/x', 'postgres://[redacted]@db.internal/x'],
  ['"https:\\/\\/user:pass@host\\/"', '"https:\\/\\/[redacted]@host\\/"'],
])('the credential in %s is masked', (text, expected) => {
  expect(maskKeys(text)).toBe(expected);
});

const UNCHANGED = [
  'basic arithmetic, Basic authentication, the bearer responsible-person, BASIC PROGRAMMING',
  'a risk-assessment-2024, the keyboard: basic 1, a task-management tool, monkey=12345, Bearer of news',
  'sk-learn-pipelines-are-good, pk-constraint-2024-10, npm_config_registry, svc_requests_in_flight_total',
  'ASIAPACIFICREGIONALSALES, AKIA, AIzawl Chronicles, hf_transformers_library, eyJ',
  'mail ada@example.com, see https://example.com/a@b?x=1 and http://[::1]:80/',
  'token: expected a string, got an int. {"usage":{"max_tokens":12},"author":"Ada","password":"see the manual"}',
];

test.each(UNCHANGED)('unchanged: %s', (text) => {
  expect(maskKeys(text)).toBe(text);
  expect(maskKeys(JSON.stringify({ msg: text }))).toBe(JSON.stringify({ msg: text }));
});

/** Contains the beginning of every kind of credential, none of which is complete: all searches run for a text after it. */
const ALL_HINTS = '-----BEGIN nothing, sk- Bearer | ghp_ glpat- @ | ';

const FRAGMENTS = [
  ...KEYS,
  '"',
  '\\"',
  "'",
  ':',
  '=',
  ' ',
  '\\n',
  '//',
  '\\/\\/',
  '@',
  '%20',
  '-',
  '_',
  '.',
  'Grüße',
  '12',
  'sk-',
  'https://user:pass@host/',
  'Bearer ',
  'basic ',
  '://',
  RANDOM,
  '-----END PRIVATE KEY-----',
];

const texts = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 4 })), { maxLength: 14 })
  .map((parts) => parts.join(''));

test('the searches that are skipped would find nothing in the text', () => {
  assertProperty(
    fc.property(texts, (text) => {
      expect(`${ALL_HINTS}${maskKeys(text)}`).toBe(maskKeys(`${ALL_HINTS}${text}`));
    }),
    { numRuns: 3_000 },
  );
});

test('a line of the log stays valid JSON, whatever it quotes', () => {
  assertProperty(
    fc.property(texts, fc.json(), (quoted, json) => {
      const line = JSON.stringify({ quoted, json, list: [quoted, 1, null] });
      expect(() => JSON.parse(maskKeys(line)) as unknown).not.toThrow();
      expect(() => JSON.parse(maskKeys(json)) as unknown).not.toThrow();
    }),
    { numRuns: 1000 },
  );
});
