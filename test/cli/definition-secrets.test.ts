import { expect, test } from 'vitest';
import { withDefinitionSecrets } from '../../src/cli/serve-program.ts';
import { definitionSecrets } from '../../src/cli/definition-secrets.ts';
import { compile } from '../../src/compiler/compile.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';

const DEFINITIONS = `
client<llm> Odd {
  provider openai
  options {
    model env.MODEL_NAME
    base_url env.PLACE
    api_key env.ODDLY_NAMED
    headers {
      x-team env.TEAM
    }
    nested [env.IN_LIST]
  }
}
client<llm> Canned {
  provider offline
  options {
    reply #"{"token": "a subway token"}"#
    replies [{ contains env.UNRELATED, reply { signature "Kind regards" } }]
  }
}
function F(text: string) -> string {
  client Odd
  prompt #"{{ text }}"#
}
`;

test('the variables that a client sends are secrets, except for addresses and models, and replies are not', () => {
  const env = {
    ODDLY_NAMED: 'value-of-odd',
    TEAM: 'value-of-team',
    IN_LIST: 'value-in-list-x',
    MODEL_NAME: 'gpt-4o-mini',
    PLACE: 'https://models.internal',
    UNRELATED: 'value-of-nothing',
    OPENAI_API_KEY: 'value-of-key',
  };
  const loaded = loadConfig({ dotenv: false }, { variables: env, limits: { cores: 2 } });
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { program, diagnostics } = compile([new SourceFile('a.svc', DEFINITIONS)], options);
  expect(diagnostics).toEqual([]);
  if (!loaded.ok || program === undefined) throw new Error('the sample does not compile');
  const { secrets } = withDefinitionSecrets(loaded.value.config, definitionSecrets(program));
  expect(new Set(secrets)).toEqual(new Set(['value-in-list-x', 'value-of-team', 'value-of-key', 'value-of-odd']));
  expect(secrets[0]).toBe('value-in-list-x');
});
