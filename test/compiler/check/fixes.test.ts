import { expect, test } from 'vitest';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { checkFile, checkText, samples } from './sample-files.ts';

const SUGGESTION = /^Did you mean "(?<name>[^"]+)"\?$/u;

const suggestions = [...samples('invalid'), ...samples('valid')].flatMap(({ name, file }) =>
  checkFile(file).diagnostics.flatMap((diagnostic, index) => {
    const nearest = SUGGESTION.exec(diagnostic.help ?? '')?.groups?.['name'];
    return nearest === undefined ? [] : [{ title: `${name}, ${index}, ${diagnostic.code}`, file, diagnostic, nearest }];
  }),
);

function corrected(file: SourceFile, { fix }: Diagnostic): string {
  if (fix === undefined) throw new Error('the diagnostic has no fix');
  return file.text.slice(0, fix.span.start) + fix.text + file.text.slice(fix.span.end);
}

test('there are suggestions for every kind of name', () => {
  expect(suggestions.length).toBeGreaterThanOrEqual(58);
  expect(new Set(suggestions.map(({ diagnostic }) => diagnostic.code)).size).toBeGreaterThanOrEqual(14);
});

test.each(suggestions)(
  'the only suggestion is a fix, which removes the problem ($title)',
  ({ file, diagnostic, nearest }) => {
    expect(diagnostic.fix?.text).toBe(nearest);
    const after = checkText(corrected(file, diagnostic)).diagnostics;
    const count = (all: readonly Diagnostic[]): number =>
      all.filter(({ code, message }) => code === diagnostic.code && message === diagnostic.message).length;
    expect(count(after)).toBe(count(checkFile(file).diagnostics) - 1);
  },
);

/** A function whose prompt is the text. */
const withPrompt = (prompt: string): string => `class Person {
  name string
}
enum Color {
  Red
}
template_string Greet(name: string) #"Hello {{ name }}"#
function F(person: Person, names: string[]) -> Color {
  client "openai/m"
  prompt #"{{ ctx.output_format }}{{ person }}{{ names }} ${prompt}"#
}
`;

test.each([
  ['{{ persn.name }}', 'persn', 'person'],
  ['{{ person.nmae }}', 'nmae', 'name'],
  ['{{ person["nmae"] }}', 'nmae', 'name'],
  ['{{ Color.Rde }}', 'Rde', 'Red'],
  ['{{ names|revers }}', 'revers', 'reverse'],
  ['{{ person.name|lowerr|trim }}', 'lowerr', 'lower'],
  ['{% if names is definedd %}x{% endif %}', 'definedd', 'defined'],
  ['{{ _.rloe("user") }}', '_.rloe', '_.role'],
  ['{{ Gret("Ada") }}', 'Gret', 'Greet'],
  ['{{ person.name.uper() }}', 'uper', 'upper'],
  ['{% iff names %}x{% endif %}', 'iff', 'if'],
])('the fix of the prompt %s replaces only %s', (prompt, from, to) => {
  const file = new SourceFile('input.svc', withPrompt(prompt));
  const fixes = checkFile(file).diagnostics.flatMap(({ fix }) => fix ?? []);
  expect(fixes.map(({ span, text }) => [file.text.slice(span.start, span.end), text])).toEqual([[from, to]]);
});

test('a name that the place contains twice, and one with an escape, have no fix', () => {
  const twice = checkFile(new SourceFile('input.svc', withPrompt('{{ person.Person.nmae.nmae }}'))).diagnostics;
  expect(twice.flatMap(({ fix }) => fix ?? [])).toEqual([]);
  const [escaped] = checkText('client<llm> A {\n  provider "open\\\\ai"\n}\n').diagnostics;
  expect([escaped?.help, escaped?.fix]).toEqual(['Did you mean "openai"?', undefined]);
});
