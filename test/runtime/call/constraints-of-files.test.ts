import { afterAll, expect, test } from 'vitest';
import { callFunction, parseText, streamFunction, testRuntime, valueOf } from '../../support/test-runtime.ts';

// Constraints as BAML reads them: those that are not expressions concern only the functions that reach them, and labels can have any
// letters.

const REPLY = JSON.stringify(JSON.stringify({ x: 1, y: 2 }));

const FILES = `
client<llm> Pair {
  provider offline
  options { reply ${REPLY} }
}
class Broken {
  x int
  y int
  @@assert(one, {{ this.x || this.y }})
}
class Fine {
  x int @check(positivé, {{ this > 0 }}) @check(größer, {{ this > 1 }})
  y int @assert(日本, {{ this > 1 }})
}
type Positive = int @check(positive, {{ this > 0 && true }})
enum Kind {
  A
  @@assert({{ !this }})
}
function ReturnsIt(text: string) -> Broken { client Pair
  prompt #"{{ text }}"# }
function InAList(text: string) -> map<string, Broken[]>? { client Pair
  prompt #"{{ text }}"# }
function TakesIt(broken: Broken) -> Fine { client Pair
  prompt #"{{ broken }}"# }
function AnAlias(text: string) -> Positive[] { client Pair
  prompt #"{{ text }}"# }
function AnEnum(kind: Kind?) -> Fine { client Pair
  prompt #"{{ kind }}"# }
function AParameter(text: string @assert({{ this && 1 }})) -> Fine { client Pair
  prompt #"{{ text }}"# }
function Other(text: string) -> Fine { client Pair
  prompt #"{{ text }}"# }
`;

const runtime = testRuntime(FILES);
afterAll(() => runtime.close());

test.each([
  ['ReturnsIt', { text: 'a' }, '{{ this.x || this.y }}', '"||" has no meaning in an expression. Write "or".'],
  ['InAList', { text: 'a' }, '{{ this.x || this.y }}', 'Write "or".'],
  ['TakesIt', { broken: { x: 1, y: 2 } }, '{{ this.x || this.y }}', 'Write "or".'],
  ['AnAlias', { text: 'a' }, '{{ this > 0 && true }}', 'Write "and".'],
  ['AnEnum', {}, '{{ !this }}', 'Write "not".'],
  ['AParameter', { text: 'a' }, '{{ this && 1 }}', 'Write "and".'],
])(
  'calls and streams of %s, whose types have a constraint that is not an expression, fail',
  async (name, args, source, advice) => {
    const message = expect.stringContaining(`The constraint \`${source}\` of a type of "${name}" cannot be read. `);
    const refused = { ok: false, failure: { code: 'prompt_error', message } };
    const outcome = await callFunction(runtime, name, args);
    expect(outcome.result).toMatchObject(refused);
    expect(outcome.result.ok ? '' : outcome.result.failure.message).toContain(advice);
    expect((await streamFunction(runtime, name, args)).outcome.result).toMatchObject(refused);
    expect(await parseText(runtime, name, '{"x": 1, "y": 2}')).toMatchObject(refused);
  },
);

test('a function that does not reach such a constraint works, and its checks have the names of the file', async () => {
  expect(valueOf(await callFunction(runtime, 'Other', { text: 'a' }))).toEqual({
    x: {
      value: 1,
      checks: {
        positivé: { name: 'positivé', expression: 'this > 0', status: 'succeeded' },
        größer: { name: 'größer', expression: 'this > 1', status: 'failed' },
      },
    },
    y: 2,
  });
  const refused = await parseText(runtime, 'Other', '{"x": 1, "y": 1}');
  expect(refused).toMatchObject({ ok: false, failure: { details: [{ message: 'the assert 日本 failed: this > 1' }] } });
});
