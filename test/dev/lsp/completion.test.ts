import { expect, test } from 'vitest';
import { completionsAt } from '../../../src/dev/lsp/completion.ts';
import { applied, edited } from './edited.ts';

const DEFINITIONS = `class Person {
  name string
  age int @description("in years")
  friends Person[]
}
enum Mood {
  Calm
  Angry
}
type Names = string[]
client<llm> Fast {
  provider openai
  retry_policy Often
  options {
    model "m"
    api_key env.SECRET_KEY
    allowed_roles ["system", "narrator"]
  }
}
retry_policy Often {
  max_retries 2
}
template_string Greeting(name: string) #"Hello {{ name }}"#
`;

const FUNCTION = (prompt: string): string => `function Describe(person: Person, mood: Mood, names: Names) -> string {
  client Fast
  prompt #"
    ${prompt}
  "#
}
`;

function labels(text: string, variables: readonly string[] = []): readonly string[] {
  const { program, path, offset } = edited({ 'a.svc': DEFINITIONS, 'b.svc': text });
  return completionsAt({ program, path, offset }, variables).map(({ label }) => label);
}

test.each<readonly [string, string, readonly string[], readonly string[]]>([
  ['keywords at the start of a line', '‸', ['class', 'function', 'client', 'test'], ['Person']],
  ['keywords after a letter, behind other definitions', 'class A {\n  a int\n}\n\nfu‸', ['function'], ['string']],
  ['types of a field', 'class A {\n  a ‸\n}', ['string', 'image', 'Person', 'Mood', 'Names'], ['class', 'Fast']],
  ['types inside a list and a map', 'class A {\n  a map<string, Per‸>\n}', ['Person', 'Mood'], []],
  ['types of a parameter', 'function F(a: ‸) -> int {\n  client Fast\n  prompt #"x"#\n}', ['Person', 'int'], []],
  ['types of a return', 'function F(a: int) -> ‸ {\n  client Fast\n  prompt #"x"#\n}', ['Person', 'int'], []],
  [
    'attributes of a field',
    'class A {\n  a int @‸\n}',
    ['@description', '@alias', '@check'],
    ['@@dynamic', '@dynamic'],
  ],
  ['attributes of a class', 'class A {\n  a int\n  @@‸\n}', ['@@dynamic', '@@assert'], ['@description']],
  ['keys of a function', 'function F(a: int) -> int {\n  ‸\n}', ['client', 'prompt'], ['provider']],
  [
    'clients and shorthands',
    'function F(a: int) -> int {\n  client ‸\n  prompt #"x"#\n}',
    ['Fast', 'openai/'],
    ['fallback/'],
  ],
  ['providers', 'client<llm> C {\n  provider ‸\n}', ['openai', 'fallback', 'anthropic'], ['Fast']],
  ['retry policies', 'client<llm> C {\n  provider openai\n  retry_policy ‸\n}', ['Often'], ['Fast']],
  [
    'options of the provider, without those that are there',
    'client<llm> C {\n  provider openai\n  options {\n    model "x"\n    ‸\n  }\n}',
    ['api_key', 'base_url', 'http'],
    ['model', 'strategy'],
  ],
  [
    'options of another provider',
    'client<llm> C {\n  provider fallback\n  options {\n    ‸\n  }\n}',
    ['strategy'],
    ['api_key'],
  ],
  [
    'settings inside an option',
    'client<llm> C {\n  provider openai\n  options {\n    http {\n      ‸\n    }\n  }\n}',
    ['connect_timeout_ms'],
    ['api_key'],
  ],
  [
    'words of an option',
    'client<llm> C {\n  provider openai\n  options {\n    structured_output ‸\n  }\n}',
    ['auto', 'on', 'off'],
    ['env.SECRET_KEY'],
  ],
  [
    'members of a strategy',
    'client<llm> C {\n  provider fallback\n  options {\n    strategy [Fast, ‸]\n  }\n}',
    ['Fast', 'openai/'],
    [],
  ],
  [
    'settings of a retry policy',
    'retry_policy P {\n  strategy {\n    ‸\n  }\n}',
    ['delay_ms', 'type'],
    ['max_retries'],
  ],
  ['functions of a test', `${FUNCTION('x')}test T {\n  functions [‸]\n}`, ['Describe'], ['Fast']],
  [
    'arguments of a test',
    `${FUNCTION('x')}test T {\n  functions [Describe]\n  args {\n    ‸\n  }\n}`,
    ['person', 'mood'],
    ['name'],
  ],
  [
    'fields in the arguments of a test, at any depth',
    `${FUNCTION('x')}test T {\n  functions [Describe]\n  args {\n    person {\n      friends [{\n        ‸\n      }]\n    }\n  }\n}`,
    ['name', 'age', 'friends'],
    ['mood'],
  ],
  [
    'enum values in the arguments of a test',
    `${FUNCTION('x')}test T {\n  functions [Describe]\n  args {\n    mood ‸\n  }\n}`,
    ['Calm', 'Angry'],
    ['name'],
  ],
  ['names in a template', FUNCTION('{{ ‸ }}'), ['person', 'mood', 'ctx', '_', 'Greeting', 'Mood', 'range'], ['age']],
  ['fields of a parameter', FUNCTION('{{ person.‸ }}'), ['name', 'age', 'friends'], ['mood']],
  ['fields in a tag without an end', FUNCTION('{{ person.‸'), ['name', 'age'], []],
  ['fields of the variable of a loop', FUNCTION('{% for f in person.friends %}{{ f.‸ }}{% endfor %}'), ['name'], []],
  [
    'the variable of a loop without an end',
    FUNCTION('{% for friend in person.friends %}{{ fr‸'),
    ['friend', 'loop'],
    [],
  ],
  ['fields in a condition', FUNCTION('{% if person.‸ %}x{% endif %}'), ['age'], []],
  ['methods of a string', FUNCTION('{{ person.name.‸ }}'), ['upper', 'startswith'], ['age']],
  ['values of an enum', FUNCTION('{{ Mood.‸ }}'), ['Calm', 'Angry'], ['name']],
  ['enum values in a comparison', FUNCTION('{% if mood == "‸" %}x{% endif %}'), ['Calm', 'Angry'], ['name']],
  ['filters', FUNCTION('{{ person.name | ‸ }}'), ['upper', 'length'], ['defined', 'name']],
  ['tests', FUNCTION('{{ person.name is ‸ }}'), ['defined', 'none'], ['replace']],
  ['statements', FUNCTION('{% ‸ %}'), ['for', 'if', 'endfor', 'else'], ['person']],
  ['roles that the client accepts', FUNCTION('{{ _.role("‸") }}'), ['system', 'narrator'], ['assistant']],
  ['roles in a call without an end', FUNCTION('{{ _.role("‸'), ['narrator'], []],
  ['members of ctx', FUNCTION('{{ ctx.‸ }}'), ['output_format', 'client'], ['person']],
  ['fields in the constraint of a class', 'class A {\n  size int\n  @@assert(x, {{ this.‸ > 1 }})\n}', ['size'], []],
  ['fields in the constraint of a field', 'class A {\n  who Person @check(x, {{ this.‸ }})\n}', ['age'], ['who']],
])('suggests %s', (_what, text, present, absent) => {
  const found = labels(text);
  expect(found).toEqual(expect.arrayContaining([...present]));
  expect(found.filter((label) => absent.includes(label))).toEqual([]);
});

test('suggests names of environment variables from the program, its providers and the example, and never a value', () => {
  const text = 'client<llm> C {\n  provider anthropic\n  options {\n    api_key env.‸\n  }\n}';
  const found = labels(text, ['FROM_EXAMPLE']);
  expect(found.toSorted()).toEqual([
    'env.ANTHROPIC_API_KEY',
    'env.FROM_EXAMPLE',
    'env.OPENAI_API_KEY',
    'env.SECRET_KEY',
  ]);
});

test.each([
  ['text of a prompt', FUNCTION('hello ‸')],
  ['a comment', '// a ‸'],
  ['the name of a new field', 'class A {\n  ‸\n}'],
])('suggests nothing in %s', (_what, text) => {
  expect(labels(text)).toEqual([]);
});

test('a suggestion replaces the word before the cursor', () => {
  const { program, path, offset } = edited({ 'a.svc': DEFINITIONS, 'b.svc': FUNCTION('{{ person.na‸ }}') });
  const item = completionsAt({ program, path, offset }, []).find(({ label }) => label === 'name');
  expect(item).toMatchObject({ detail: 'string' });
  if (item?.textEdit === undefined || !('range' in item.textEdit)) throw new Error('there is no edit');
  expect(applied(program, path, [item.textEdit])).toContain('{{ person.name }}');
});
