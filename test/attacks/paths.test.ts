import { expect } from 'vitest';
import { onBothTransports } from './support/on-both-transports.ts';

const FILES = {
  'main.svc': `
client<llm> Model {
  provider openai-generic
  options {
    base_url env.PROVIDER_URL
  }
}
function Tell() -> string {
  client Model
  prompt #"x"#
}
`,
};

/** Names that would lead to another path, to a query or to another host if they were not encoded. */
const MODELS = [
  '.',
  '..',
  '../..',
  '../../admin',
  '..%2f..%2fadmin',
  '%2e%2e/admin',
  '..\\..\\admin',
  '/admin',
  '//foreign.example/admin',
  'a/../../../admin',
  'a?b=c',
  '..?b=c',
  'a#b',
  'a;b=c',
  'a:generateContent?b=',
  'http://foreign.example/',
  '@foreign.example/',
  'a\r\nx-a: b',
  'a b',
  '\u0000',
  '\ud800',
  '．．／admin',
];

/** The path below which all calls of a client stay, for each provider whose paths contain the model. */
const PROVIDERS: ReadonlyArray<readonly [provider: string, path: RegExp, options: object]> = [
  ['openai-generic', /^\/v1\/chat\/completions$/u, {}],
  ['openai-responses', /^\/v1\/responses$/u, {}],
  ['anthropic', /^\/v1\/v1\/messages$|^\/v1\/messages$/u, {}],
  ['google-ai', /^\/v1\/models\/[^?#\\]*:generateContent$/u, {}],
  ['vertex-ai', /^\/v1\/[^?#\\]*:generateContent$/u, { query_params: {} }],
  ['aws-bedrock', /^\/v1\/model\/[^/?#\\]*\/converse$/u, { region: 'us-east-1' }],
];

onBothTransports(
  `${MODELS.length} names of models lead to no other path of their provider`,
  { files: FILES, flags: ['--allow-private-urls'] },
  async (server) => {
    const own = { base_url: `${server.model.url}/v1`, api_key: 'k' };
    for (const [provider, path, options] of PROVIDERS) {
      let sent = 0;
      let last = '';
      for (const model of MODELS) {
        server.model.clear();
        const clients = [{ name: 'Mine', provider, options: { ...own, ...options, model } }];
        const answer = await server.call('Tell', { svc_options: { client_registry: { primary: 'Mine', clients } } });
        last = answer.body;
        expect([provider, model, answer.body]).not.toEqual([provider, model, expect.stringContaining('internal')]);
        for (const request of server.model.requests) {
          expect([provider, model, request.path]).toEqual([provider, model, expect.stringMatching(path)]);
          expect([provider, model, request.path.split('/').includes('..')]).toEqual([provider, model, false]);
          sent += 1;
        }
      }
      // A few names are refused before the call.
      expect(sent, `${provider}: ${last}`).toBeGreaterThan(MODELS.length / 2);
    }
  },
);
