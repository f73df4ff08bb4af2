import { reply, status, type FakeProvider } from './fake-provider.ts';
import type { Behaviour } from './fake-wire.ts';

/** A provider that finds `Name, age` in a prompt and returns them as a person, with the changes of `change`. */
function personReply(change: (age: number) => number | undefined): Behaviour {
  return async (request, wire) => {
    const [, name = '', digits = ''] = /Read: (\w+), (\d+)/u.exec(request.body) ?? [];
    const age = change(Number(digits));
    const usage = { prompt_tokens: 1000, completion_tokens: 100 };
    const answer =
      age === undefined ? status(500, { error: { message: 'down' } }) : reply(JSON.stringify({ name, age }), { usage });
    await answer(request, wire);
  };
}

/** Returns whether the age of the value has two digits; a number for `Grade`. */
const judge: Behaviour = async (request, wire) => {
  const [, age = ''] = /"age\W{1,6}(\d+)/u.exec(request.body.replaceAll('\\', '')) ?? [];
  const isAdult = age.length > 1;
  const text = request.body.includes('Grade') ? (isAdult ? '4' : '2') : String(isAdult);
  await reply(text)(request, wire);
};

/**
 * Definitions with a function `Read` and clients `A` and `B`, whose replies have the ages that `a` and `b` return, and judges of the
 * values: `IsAdult` returns whether the age has two digits, `Grade` a number from 1 to 5, `Confused` a string.
 */
export function dataDefinitions(
  provider: FakeProvider,
  name: string,
  { a, b }: { readonly a: (age: number) => number | undefined; readonly b: (age: number) => number | undefined },
): string {
  return `${client('A', provider.at(`${name}-a`, personReply(a)))}${client('B', provider.at(`${name}-b`, personReply(b)))}${client('J', provider.at(`${name}-j`, judge))}
class Person {
  name string
  age int
}
function Read(text: string) -> Person {
  client A
  prompt #"Read: {{ text }}{{ ctx.output_format }}"#
}
function IsAdult(input: string, output: Person, expected: Person?) -> bool {
  client J
  prompt #"{{ input }} {{ output }} {{ expected }}{{ ctx.output_format }}"#
}
function Grade(output: string) -> float {
  client J
  prompt #"Grade {{ output }}{{ ctx.output_format }}"#
}
function Confused(output: string) -> string {
  client J
  prompt #"{{ output }}"#
}
test Adult {
  functions [Read]
  args { text "Ada, 36" }
  @@assert(adult, {{ this.age > 17 }})
}
test Named {
  functions [Read]
  args { text "Ada, 36" }
  @@check(ada, {{ this.name == "Ada" }})
}
`;
}

function client(name: string, url: string): string {
  return `client<llm> ${name} {
  provider openai-generic
  options {
    base_url "${url}"
    model m
    api_key env.FAKE_KEY
  }
}
`;
}
