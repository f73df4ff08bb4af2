import { expect, test } from 'vitest';
import { compile } from '../../src/compiler/compile.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { clientNames } from '../../src/schema/program.ts';

const SOURCE = `
client<llm> Main {
  provider fallback
  options { strategy [Fast, "anthropic/claude-sonnet-4-20250514"] }
}
client<llm> Fast {
  provider openai
  options { model gpt-4o-mini }
}
function A(text: string) -> string {
  client Main
  prompt #"{{ text }}"#
}
function B(text: string) -> string {
  client "openai/gpt-4o"
  prompt #"{{ text }}"#
}
`;

test('clients are named by their declarations, by functions and by strategies', () => {
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { program, diagnostics } = compile([new SourceFile('a.svc', SOURCE)], options);
  if (program === undefined) throw new Error(JSON.stringify(diagnostics));
  expect(clientNames(program)).toEqual(
    new Set(['Main', 'Fast', 'openai/gpt-4o', 'anthropic/claude-sonnet-4-20250514']),
  );
});
