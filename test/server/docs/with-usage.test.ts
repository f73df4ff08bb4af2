import { expect, test } from 'vitest';

// Scripts of the page are plain JavaScript without declarations.
const page = new URL('../../../src/server/http/docs/page/', import.meta.url);
const { withUsage }: { withUsage: (text: unknown) => unknown } = await import(new URL('with-usage.js', page).href);

test.each([
  ['{}', '{"svc_options":{"include":["usage","client","attempts"]}}'],
  [' { "id": 12345678901234567890.10 }', ' {"svc_options":{"include":["usage","client","attempts"]}, "id": 12345678901234567890.10 }'],
  [
    '{"a": "{", "svc_options" : { "client": "Fast" }}',
    '{"a": "{", "svc_options" : {"include":["usage","client","attempts"], "client": "Fast" }}',
  ],
  ['{"__svc_options__": {}}', '{"__svc_options__": {"include":["usage","client","attempts"]}}'],
])('%s asks for the facts of the line under the answer', (text, expected) => {
  expect(withUsage(text)).toBe(expected);
});

test.each([
  '{"svc_options": {"include": []}}',
  '{"svc_options": null}',
  '{"a": {"svc_options": {}}, "svc_options": {}}',
  '{"svc\\u005foptions": {}}',
  '[1]',
  '{"a":',
  'null',
  '',
  undefined,
])('%s stays as it is', (text) => {
  expect(withUsage(text)).toBe(text);
});
