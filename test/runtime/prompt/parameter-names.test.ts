import { expect, test } from 'vitest';
import { errorsOf, renderText } from './sample-program.ts';

/** Words of the definition language, of templates, and of programming languages. */
const WORDS =
  'class enum type function client prompt test args map list string int if else for in and or is set macro raw block ' +
  'loop this env range dict namespace debug options provider input output async from import as with while F Item id ' +
  'constructor prototype toString hasOwnProperty length';

const definitions = 'class Item {\n  a string\n}';

test.each(WORDS.split(' '))('a parameter called "%s" can be read in the prompt', (word) => {
  const prompt = `[{{ ${word} }}] [{{ ${word}|upper }}]{% if ${word} == "v" %} yes{% endif %}`;
  expect(renderText(prompt, { parameters: `${word}: string`, args: { [word]: 'v' }, definitions })).toBe('[v] [V] yes');
});

test('an operator in place of a value is a variable', () => {
  const prompt =
    '{{ in in "xvx" }} {{ in is defined }} {{ in if in else in }} {{ in and in }} {{ in ~ in }} {% for c in in %}{{ c }}{% endfor %}';
  expect(renderText(prompt, { parameters: 'in: string', args: { in: 'v' } })).toBe('true true v v vv v');
});

test.each(['{{ a or or b }}', '{{ and a }}', '{{ not }}', '{{ a if else b }}', '{% for x in %}{% endfor %}'])(
  'an operator without a value is an error: %s',
  (prompt) => {
    const source = `function F(a: string, b: string) -> string {\n  client "openai/m"\n  prompt #"${prompt}"#\n}\n`;
    expect(errorsOf(source)).not.toEqual([]);
  },
);
