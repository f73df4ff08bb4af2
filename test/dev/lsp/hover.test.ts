import { expect, test } from 'vitest';
import { hoverAt } from '../../../src/dev/lsp/hover.ts';
import { renderPrompt } from '../../../src/dev/lsp/render-prompt.ts';
import { edited } from './edited.ts';

const SETTINGS = {
  env: { NAME: 'Ada', KEY: 'sk-secret-value-of-a-key' },
  onLoss: 'accept',
  timeoutMs: 1000,
  redactor: () => (text: string) => text.replaceAll('sk-secret-value-of-a-key', '***'),
} as const;

const BASE = `/// A human being.
class Person {
  /// As in the passport.
  name string @description("full name")
  mood Mood?
}
enum Mood {
  Calm
}
client<llm> Fast {
  provider openai
  options {
    model "m"
    api_key "sk-abcdefghijklmnopqrstuvwx"
    temperature 1
  }
}
retry_policy Often {
  max_retries 1
}
`;

const FUNCTION = `/// Greets someone.
function Greet(person: Person, times: int, others: Person[]?) -> string {
  client Fast
  prompt #"
    {{ _.role("system") }}
    Hello {{ person.name|upper }}{% for n in [times] %}{{ n }}{% endfor %}
    {{ _.role("user") }}
    again {{ times }} {{ ctx.client.name }}{% for one in others %}{{ one }}{% endfor %}
  "#
}
test Ada {
  functions [Greet]
  args {
    person { name env.NAME }
    times 2
  }
}
`;

/** The Markdown of the hover at the first letter of `word` inside `inside`. */
async function hover(text: string, word: string, inside = word): Promise<string | undefined> {
  const at = text.indexOf(inside);
  expect(at, inside).toBeGreaterThanOrEqual(0);
  const start = at + inside.indexOf(word);
  const { program, path, offset } = edited({ 'a.svc': `${text.slice(0, start)}‸${text.slice(start)}` });
  const found = await hoverAt({ program, path, offset: offset + 1 }, (of, name) => renderPrompt(of, name, SETTINGS));
  const contents = found?.contents;
  return contents === undefined || typeof contents === 'string' || !('value' in contents) ? undefined : contents.value;
}

test('a class shows its declaration with its fields, its documentation and the number of its uses', async () => {
  const text = await hover(BASE + FUNCTION, 'Person', 'person: Person');
  expect(text).toContain(
    'class Person {\n  /// As in the passport.\n  name string @description("full name")\n  mood Mood?\n}',
  );
  expect(text).toContain('A human being.');
  expect(text).toContain('Used in 2 places.');
});

test('a field in a template shows its type and its documentation', async () => {
  const text = await hover(BASE + FUNCTION, 'name', 'person.name');
  expect(text).toContain('Person.name string @description("full name")');
  expect(text).toContain('As in the passport.');
});

test.each([
  ['a parameter', 'times', '{{ times }}', 'times: int'],
  ['a parameter of a class', 'person', '{{ person', 'person: Person'],
  ['the variable of a loop', 'one', '{{ one }}', 'one: Person'],
  ['a variable of an unknown type', 'n', '{{ n }}', '```svc\nn\n```'],
  ['a filter', 'upper', '|upper', 'filter upper -> string'],
  ['an object', 'ctx', '{{ ctx', 'ctx: client, tags, output_format'],
  ['the chat', '_', '{{ _', '_: role(…), which begins a message'],
])('%s in a template shows what it is', async (_what, word, inside, expected) => {
  expect(await hover(BASE + FUNCTION, word, inside)).toContain(expected);
});

test('a function shows its head and the prompt for its first test, without a call of the model', async () => {
  const text = await hover(BASE + FUNCTION, 'Greet', 'function Greet'.slice(0));
  expect(text).toContain('function Greet(person: Person, times: int, others: Person[]?) -> string\n');
  expect(text).toContain('Greets someone.');
  expect(text).toContain('The prompt for the test "Ada":');
  expect(text).toContain('[system]\nHello ADA2');
  expect(text).toContain('[user]\nagain 2 Fast');
});

test('the prompt masks credentials', async () => {
  const text = await hover((BASE + FUNCTION).replace('env.NAME', 'env.KEY').replace('|upper', ''), 'Greet', '[Greet]');
  expect(text).toContain('Hello ***2');
});

test.each([
  [
    'errors in the definitions',
    FUNCTION.replace('times 2', 'times 2').replace('times: int', 'times: Unknown'),
    'The definitions have errors.',
  ],
  ['a variable that is not set', FUNCTION.replace('env.NAME', 'env.OTHER'), 'env.OTHER'],
  ['an argument that is missing', FUNCTION.replace('times 2', ''), 'times'],
])('a function states why its prompt cannot be rendered: %s', async (_what, text, reason) => {
  const shown = await hover(BASE + text, 'Greet', 'function Greet');
  expect(shown).toContain('The prompt of the test "Ada" cannot be rendered.');
  expect(shown).toContain(reason);
});

test('a function without a test shows no prompt', async () => {
  const [alone = ''] = FUNCTION.split('test Ada');
  expect(await hover(BASE + alone, 'Greet', 'function Greet')).not.toContain('prompt');
});

test('an option shows the text of its provider, its value and its default', async () => {
  const text = await hover(BASE, 'api_key', 'api_key "');
  expect(text).toContain('`api_key` of provider `openai`');
  expect(text).toContain('the key; `env.X` reads an environment variable');
  const policy = await hover(BASE, 'max_retries');
  expect(policy).toContain('a whole number, 0 or more');
  expect(policy).toContain('Default: `0`');
});

test('a client shows its declaration without its credentials', async () => {
  const text = await hover(BASE + FUNCTION, 'Fast', 'client Fast');
  expect(text).toContain('model "m"');
  expect(text).not.toContain('sk-abcdefghijklmnopqrstuvwx');
});

test('a comment has no hover', async () => {
  expect(await hover(`// about Person\n${BASE}`, 'about')).toBeUndefined();
});

test('a text with a fence of Markdown stays inside its own', async () => {
  const text = await hover(BASE + FUNCTION.replace('Hello', '```\n# Hello'), 'Greet', 'function Greet');
  expect(text).toContain('````text\n[system]\n```');
});
