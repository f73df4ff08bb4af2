import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCredentialName } from '../../src/base/credentials.ts';
import { redactShapes } from '../../src/logging/credential-shapes.ts';
import { assertProperty } from '../support/assert-property.ts';

/** Contains the beginning of every kind of credential, none of which is complete: all searches run for a text after it. */
const ALL_HINTS = '-----BEGIN nothing, sk- Bearer | ghp_ glpat- | ';

const FRAGMENTS = [
  'api_key',
  'token',
  'inputTokens',
  'requestId',
  'function',
  'finishReason',
  'password',
  'X-Api-Key',
  'name',
  'value',
  '"',
  '\\"',
  '\\\\\\"',
  "'",
  ':',
  ': ',
  '=',
  ',',
  '{',
  '}',
  '[',
  ']',
  ' ',
  '\\n',
  '/',
  '//',
  '\\/\\/',
  '@',
  '%20',
  'https://user:pass@host/',
  'sk-abcdefgh12345',
  'sk_live_abcdefgh',
  'Bearer ',
  'BEARER ',
  'basic ',
  'abcdefgh12345678',
  'AKIAABCDEFGHIJKLMNOP',
  'AIzaabcdefghijklmnop',
  'ya29.abcdefghij',
  'eyJabcdefgh.abc.abc',
  'xoxb-abcdefghijklmn',
  'ghp_abcdefghijklmnopqrst',
  'hf_abcdefghijklmnopqrst',
  'github_pat_abcdefghijklmnop',
  'xai-abcdefghijklmnop',
  'pplx-abcdefghijkl',
  '-----BEGIN PRIVATE KEY-----abc',
  '-----END PRIVATE KEY-----',
  'Grüße',
  '12',
  'null',
];

const texts = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 4 })), { maxLength: 14 })
  .map((parts) => parts.join(''));

test('the searches that the redactor skips would find nothing in the text', () => {
  assertProperty(
    fc.property(texts, (text) => {
      expect(`${ALL_HINTS}${redactShapes(text)}`).toBe(redactShapes(`${ALL_HINTS}${text}`));
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  'sk-abcdefgh12345',
  'BEARER abcdefgh12345678',
  'xai-abcdefghijklmnop',
  'npm_abcdefghijklmnopqrst',
  'whsec_abcdefghijklmnopqrst',
])('the searches find %s', (credential) => {
  expect(redactShapes(`a ${credential} b`)).not.toContain(credential.slice(-8));
  expect(redactShapes(`{"text":"${credential}"}`)).not.toContain(credential.slice(-8));
});

test.each(['requestId', 'function', 'finishReason', 'inputTokens', 'outputTokens'])(
  'the field %s, which is not searched, is not that of a credential',
  (field) => {
    expect(isCredentialName(field)).toBe(false);
    expect(redactShapes(`{"x${field.replace(/^./u, 'S')}":"abcdefgh"}`)).toContain('abcdefgh');
  },
);
