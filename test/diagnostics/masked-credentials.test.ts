import { expect, test } from 'vitest';
import { compile } from '../../src/compiler/compile.ts';
import { codeFrame, PLAIN, maskedText, formatPretty } from '../../src/diagnostics/report-formats.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';

const KEY = 'plainlookingvalue';

function masked(text: string): string {
  return maskedText(new SourceFile('a.svc', text));
}

test.each([
  `api_key "${KEY}"`,
  `api_key "${KEY}`,
  `api_key #"${KEY}"#`,
  `api_key ##"${KEY}`,
  `api_key: "${KEY}"`,
  `secret_access_key = "${KEY}"`,
  `headers { "X-Api-Key" "${KEY}" }`,
  `headers { Authorization "Token ${KEY}" }`,
  `headers { x-trace "${KEY}0000001" }`,
  `query_params { key "${KEY}" }`,
  `base_url "https://user:${KEY}@host/v1"`,
  `base_url "https://host/v1?api_key=${KEY}"`,
  `credentials #"\n{"private_key": "${KEY}"}\n"#`,
  `api_key ${KEY}1`,
  `// api_key "${KEY}"`,
])('a literal credential is masked, and every offset stays: %s', (text) => {
  expect(masked(text)).not.toContain(KEY);
  expect(masked(text)).toHaveLength(text.length);
  expect(
    masked(text)
      .split('\n')
      .map(({ length }) => length),
  ).toEqual(text.split('\n').map(({ length }) => length));
});

test.each([
  'model "gpt-4o"',
  'api_key env.OPENAI_API_KEY',
  'class Login {\n  token string\n  password string?\n  name string @description("a token")\n}',
  'headers { "content-type" "application/json" }',
  'base_url "https://host/v1"',
  'max_tokens 100',
  'class Letter {\n  signature "Kind regards, Ada" | "Yours"\n  token "north1234"\n}',
  'type Password = "open sesame"',
  'test Sign {\n  functions [Sign]\n  args {\n    signature "Kind regards, Ada"\n    cookies #"{"token": "oat and raisin"}"#\n  }\n}',
  'function Token(a: string) -> string {\n  client "openai/gpt-4o"\n  prompt #"the password: {{ a }}"#\n}',
])('other text stays as it is: %s', (text) => {
  expect(masked(text)).toBe(text);
});

test.each([
  `class Letter {\n  token "north1234"\n}\nclient<llm> C {\n  options {\n    api_key "${KEY}"\n  }\n}`,
  `class Letter {\n  token "north1234"\n\nclient<llm> C {\n  options {\n    api_key "${KEY}"\n  }\n}`,
  `class Letter {\n  token "north1234\n  client<llm> C {\n    options {\n      api_key "${KEY}"\n    }\n  }`,
  `class Letter {\n  token "north1234"\n}\nclient C {\n  options {\n    api_key "${KEY}"\n  }\n}`,
])('a client after a class shows no literal key, whether or not the class is complete', (text) => {
  expect(masked(text)).not.toContain(KEY);
  expect(masked(text)).toContain('north1234');
});

test('the report of an error in a client shows no literal key', () => {
  const text = `client<llm> C {\n  provider openai\n  options {\n    api_key "${KEY}" model\n    model "gpt-4o"\n    apikey "${KEY}"\n    headers {\n      X-Api-Key "${KEY}" x\n    }\n  }\n}\n`;
  const file = new SourceFile('a.svc', text);
  const { diagnostics } = compile([file], { version: '0.1.0', versionCheck: false, beta: false, apiKey: false });
  expect(diagnostics.length).toBeGreaterThan(0);
  for (let at = text.indexOf(KEY); at >= 0; at = text.indexOf(KEY, at + 1)) {
    const frame = codeFrame(file, { file: 'a.svc', start: at, end: at + KEY.length }, PLAIN);
    expect(frame).toContain('*'.repeat(KEY.length));
    expect(frame).not.toContain(KEY);
  }
  expect(formatPretty({ diagnostics, files: [file] }, false)).not.toContain(KEY);
});
