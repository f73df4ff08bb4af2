import { expect, test } from 'vitest';
import { missingCredentials } from '../../../src/runtime/clients/missing-credentials.ts';
import { compileText } from '../../support/test-runtime.ts';

const PROGRAM = compileText(`
client<llm> A {
  provider openai
  options {
    model "a"
    api_key env.A_KEY
  }
}
client<llm> B {
  provider anthropic
  options {
    model "b"
  }
}
client<llm> Unused {
  provider openai
  options {
    api_key env.UNUSED_KEY
  }
}
client<llm> List {
  provider fallback
  options {
    strategy [A, B]
  }
}
function F() -> string {
  client List
  prompt #"x"#
}
function G() -> string {
  client "openai/gpt-4o"
  prompt #"x"#
}
`);

test('clients that functions use are named with the variable that they lack', () => {
  expect(missingCredentials(PROGRAM, {})).toEqual([
    { client: 'A', variable: 'A_KEY' },
    { client: 'B', variable: 'ANTHROPIC_API_KEY' },
    { client: 'openai/gpt-4o', variable: 'OPENAI_API_KEY' },
  ]);
  expect(missingCredentials(PROGRAM, { A_KEY: 'x', ANTHROPIC_API_KEY: 'y', OPENAI_API_KEY: 'z' })).toEqual([]);
});
