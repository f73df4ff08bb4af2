import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../support/assert-property.ts';
import { redactShapes } from '../../src/logging/credential-shapes.ts';

const NAMED = [
  ['{"api_key":"hunter"}', '{"api_key":"[redacted]"}'],
  ['{"apiKey" : "hunter", "a": 1}', '{"apiKey" : "[redacted]", "a": 1}'],
  ['{"token":12345678,"max_tokens":50}', '{"token":"[redacted]","max_tokens":50}'],
  ['{"credentials":{"a":[1,{"b":"}"}]},"n":2}', '{"credentials":"[redacted]","n":2}'],
  ['{"Set-Cookie":["a=b","c=d"]}', '{"Set-Cookie":"[redacted]"}'],
  ['{"password":"a\\"b\\\\"}', '{"password":"[redacted]"}'],
  ['{"password":"cut off', '{"password":"[redacted]'],
  ['{"password":null,"secret":false,"token":""}', '{"password":null,"secret":false,"token":""}'],
  ['{"name":"x-api-key","value":"hunter"}', '{"name":"x-api-key","value":"[redacted]"}'],
  ["{'client_secret': 'hunter', 'b': 1}", "{'client_secret': '[redacted]', 'b': 1}"],
  ['https://h/v1?api_key=hunter&x=1', 'https://h/v1?api_key=[redacted]&x=1'],
  ['https://h/v1?key=hunter&monkey=1234', 'https://h/v1?key=[redacted]&monkey=1234'],
  ['https://h/f?sv=2022&sig=abc%2Bdef&se=1', 'https://h/f?sv=2022&sig=[redacted]&se=1'],
  ['?X-Amz-Credential=abcd/x&X-Amz-Signature=0123', '?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]'],
  ['postgres://user:pa@ss@db.internal/x', 'postgres://[redacted]@db.internal/x'],
  ['"https:\\/\\/user:pass@host\\/"', '"https:\\/\\/[redacted]@host\\/"'],
  ['X-Api-Key: abcdefghij', 'X-Api-Key: [redacted]'],
  ['Cookie: a=b; session=xyz\nHost: h', 'Cookie: [redacted]\nHost: h'],
  ['authorization: Token abcdef', 'authorization: [redacted]'],
  ['AWS_SECRET_ACCESS_KEY=abc/def+1', 'AWS_SECRET_ACCESS_KEY=[redacted]'],
  ['password: hunter2!, and so on', 'password: [redacted], and so on'],
  ['{secret: "abc def"}', '{secret: "[redacted]"}'],
  ['DefaultEndpointsProtocol=https;AccountKey=abcd==;X=1', 'DefaultEndpointsProtocol=https;AccountKey=[redacted];X=1'],
] as const;

test.each(NAMED)('%s', (text, expected) => {
  expect(redactShapes(text)).toBe(expected);
});

const UNCHANGED = [
  'token: expected a string, got an int',
  'The client "A" has no credentials: GOOGLE_APPLICATION_CREDENTIALS names a file that cannot be read',
  'svc_options.client_registry.clients[0].options.api_key: has to be a string',
  '{"path":"password","message":"expected a string"}',
  '{"variable":"OPENAI_API_KEY","client":"A"}',
  '{"usage":{"max_tokens":12,"completion_tokens":30},"author":"Ada","keys":["a"],"key":"b"}',
  'a risk-assessment-2024, the keyboard: basic 1, a task-management tool, monkey=12345, Bearer of news',
  'mail ada@example.com, see https://example.com/a@b?x=1 and http://[::1]:80/',
  'Set the password, the token and the secret; then call F(x) = y.',
];

test.each(UNCHANGED)('unchanged: %s', (text) => {
  expect(redactShapes(text)).toBe(text);
  expect(redactShapes(JSON.stringify({ msg: text }))).toBe(JSON.stringify({ msg: text }));
});

/** JSON text inside JSON text, as logs have it. */
function nested(value: unknown, depth: number): string {
  const text = JSON.stringify(value);
  return depth === 0 ? text : nested({ body: text }, depth - 1);
}

test('at each depth of nesting, the value is masked and the text stays valid', () => {
  const secret = fc.string({ minLength: 1, unit: 'binary' }).map((text) => `canary${text}canary`);
  const name = fc.constantFrom('api_key', 'X-Api-Key', 'clientSecret', 'password', 'AWS_SESSION_TOKEN');
  assertProperty(
    fc.property(secret, name, fc.nat({ max: 4 }), fc.json({ maxDepth: 2 }), (value, key, depth, other) => {
      const clean = redactShapes(nested({ a: other, [key]: value, deep: { [key]: [{ x: value }] } }, depth));
      expect(clean).not.toContain('canary');
      let parsed: unknown = clean;
      for (let level = 0; level <= depth; level += 1) {
        const text = level === 0 ? clean : (parsed as { readonly body: string }).body;
        parsed = JSON.parse(text);
      }
      expect(parsed).toMatchObject({ [key]: '[redacted]', deep: { [key]: '[redacted]' } });
    }),
  );
});

test('a line of the log stays valid JSON, whatever it quotes', () => {
  const text = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          'api_key',
          'password',
          '"',
          "'",
          ':',
          '=',
          ' ',
          '\\',
          '{',
          '}',
          '[',
          ']',
          ',',
          'Bearer ',
          '://',
          '@',
          'sk-12345678',
        ),
        fc.string({ maxLength: 3 }),
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(''));
  assertProperty(
    fc.property(text, fc.json(), (quoted, json) => {
      const line = JSON.stringify({ quoted, json, list: [quoted, 1, null] });
      expect(() => JSON.parse(redactShapes(line)) as unknown).not.toThrow();
      expect(() => JSON.parse(redactShapes(json)) as unknown).not.toThrow();
    }),
    { numRuns: 1000 },
  );
});

const TOKENS = [
  'sk-proj-0123456789abcdef',
  'sk_live_0123456789abcdef',
  'Bearer abcdefgh.ijklmnop',
  'AIzaSyA0123456789012345678901234567890',
  'ASIA0123456789ABCDEF',
  'ya29.a0AfH6SMBabcdefghij',
  'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'ghp_0123456789abcdefghij0123456789abcdef',
  'github_pat_0123456789abcdefghij',
  'xoxb-0123456789-abcdef',
  'hf_0123456789abcdefghij',
  'gsk_0123456789abcdefghij',
  'svc_0123456789abcdefghijABCDEFGHIJ-_0123456789a',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B==\n-----END RSA PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN',
];

test.each(TOKENS)('%s is masked without a name', (token) => {
  for (const text of [token, `at the end ${token}`, `see (${token}), please`]) {
    for (const written of [text, JSON.stringify(text), JSON.stringify(JSON.stringify(text))]) {
      expect(redactShapes(written)).toContain('[redacted]');
      expect(redactShapes(written)).not.toMatch(/0123456789|ijklmnop|MIIE|BgkqhkiG9|c2lnbm|a0AfH/u);
    }
  }
});
