import { expect, test } from 'vitest';
import { clientNames } from '../../src/schema/program.ts';
import { compileText } from '../support/test-runtime.ts';

const SOURCE = `
client<llm> Main {
  provider fallback
  options { strategy [Fast, "anthropic/claude-sonnet-4-20250514"] }
}
client<llm> Fast { provider openai }
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
  const names = new Set(['Main', 'Fast', 'openai/gpt-4o', 'anthropic/claude-sonnet-4-20250514']);
  expect(clientNames(compileText(SOURCE))).toEqual(names);
});
