import { reply, type FakeProvider } from './fake-provider.ts';

export const PERSON = '{"name": "Ada", "age": 36}';

/** A function `Read` whose client sends its calls to that path of the provider with the key `FAKE_KEY`, and tests. */
export function personReader(provider: FakeProvider, path: string, tests: string): string {
  return `client<llm> Fake {
  provider openai-generic
  options {
    base_url "${provider.at(path, reply(PERSON))}"
    model m
    api_key env.FAKE_KEY
  }
}
class Person {
  name string
  age int
}
function Read(text: string) -> Person {
  client Fake
  prompt #"
    {{ _.role("user") }}
    Read: {{ text }}
    {{ ctx.output_format }}
  "#
}
${tests}`;
}

/** A test of it that passes. */
export const SIMPLE = `test Simple {
  functions [Read]
  args { text "Ada, 36" }
  @@assert({{ this.age == 36 }})
}
`;
