import { expect, test } from 'vitest';
import { testRuntime } from '../../support/test-runtime.ts';

const FILES = `client<llm> Own {
  provider openai-generic
  options {
    base_url env.URL
  }
}
client<llm> Other {
  provider openai-generic
  options {
    base_url env.URL
  }
}
function F() -> string {
  client Own
  prompt #"x"#
}`;

const OWN_CLIENT = {
  name: 'Mine',
  provider: 'openai-generic',
  options: { base_url: 'https://a.example', api_key: 'k' },
};

test.each([
  ['no options', {}, false],
  ['a client of the files', { client: 'Other' }, false],
  ['clients of the files in turn', { client_registry: { primary: 'Other', fallback: ['Own'] } }, false],
  ['tags and the parts of the answer', { tags: { a: 'b' }, include: ['warnings'], on_loss: 'accept' }, false],
  ['a client of its own', { client_registry: { primary: 'Mine', clients: [OWN_CLIENT] } }, true],
  ['a shorthand', { client: 'openai/gpt-4o' }, true],
  ['a shorthand as fallback', { client_registry: { fallback: ['openai/gpt-4o'] } }, true],
  ['a variable', { env: { OTHER: 'x' } }, true],
])('a request with %s decides which servers the call reaches: %j, %s', (_, options, decides) => {
  const runtime = testRuntime(FILES, { URL: 'https://model.example/v1', OPENAI_API_KEY: 'k' });
  for (const body of [{ svc_options: options }, ...(Object.keys(options).length === 0 ? [{}] : [])]) {
    const prepared = runtime.prepare('F', body, { local: false });
    expect(prepared).toMatchObject({ ok: true, value: { decidesUpstream: decides } });
  }
});
