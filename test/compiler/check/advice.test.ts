import { expect, test } from 'vitest';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { testRuntime } from '../../support/test-runtime.ts';
import { checkText, report } from './sample-files.ts';

/** The diagnostics of a text as `svc check` prints them. */
function problemsOf(text: string): string {
  return report(new SourceFile('input.svc', text), checkText(text).diagnostics);
}

/** The text in backquotes, or in quotes, after "Write". */
function advisedText(problems: string): string {
  const found = /[Ww]rite (?:`([^`]+)`|"([^"]+)")/u.exec(problems);
  return found?.[1] ?? found?.[2] ?? '';
}

const functionWith = (type: string, prompt = '{{ ctx.output_format }}{{ a }}'): string => `
class A {
  field ${type}
}
function F(a: A) -> A {
  client Canned
  prompt #"${prompt}"#
}
client<llm> Canned {
  provider offline
}
`;

test.each([
  ['map<string>', 'map<string, string>'],
  ['map<int>', 'map<string, int>'],
  ['map<A>', 'map<string, A>'],
  ['[]string', 'string[]'],
  ['[string]', 'string[]'],
  ['[]A', 'A[]'],
  ['[][]string', 'string[][]'],
  ['[string?]', '(string?)[]'],
])('%s: the advice is %s, which is a type', (wrong, right) => {
  expect(advisedText(problemsOf(functionWith(wrong)))).toBe(right);
  expect(problemsOf(functionWith(right))).toBe('');
});

const promptOf = (filter: string): string => `{{ ctx.output_format }}{{ a.field|${filter} }}`;

test.each(['uppercase', 'to_upper', 'upcase'])('the filter %s: the advice is "upper", which renders', (name) => {
  const right = advisedText(problemsOf(functionWith('string', promptOf(name))));
  expect(right).toBe('upper');
  const text = functionWith('string', promptOf(right));
  expect(problemsOf(text)).toBe('');
  const runtime = testRuntime(text);
  const prepared = runtime.prepare('F', { a: { field: 'straße' } });
  expect(JSON.stringify(prepared.ok && runtime.render(prepared.value))).toContain('STRASSE');
});

test.each(['lowercase', 'len', 'size', 'json', 'strip', 'str', 'stringify'])(
  'the filter %s: the advice is a filter',
  (name) => {
    const right = advisedText(problemsOf(functionWith('string', promptOf(name))));
    expect(problemsOf(functionWith('string', promptOf(right)))).toBe('');
  },
);

const retried = (client: string, more = ''): string => `
function F(a: string) -> string {
  client ${client}
  retry_policy Twice
  prompt #"{{ a }}"#
}
retry_policy Twice {
  max_retries 2
}
${more}`;

test('retry_policy in a function with a model: the advice is a client, which works when it is pasted', () => {
  const text = retried('"openai/gpt-4o-mini"');
  const [, block = '', line = ''] = /declare `([^`]+)`, and write `([^`]+)`/u.exec(problemsOf(text)) ?? [];
  expect(block).toContain('provider openai, retry_policy Twice, options { model "gpt-4o-mini" }');
  const corrected = text.replace('  client "openai/gpt-4o-mini"\n  retry_policy Twice\n', `  ${line}\n`);
  expect(problemsOf(`${corrected}\n${block}\n`)).toBe('');
});

test('retry_policy in a function with a client: the advice is a line, which works in the client', () => {
  const client = 'client<llm> Canned {\n  provider offline\n}\n';
  const text = retried('Canned', client);
  expect(problemsOf(text)).toContain('Write `retry_policy Twice` in the client "Canned".');
  const corrected = text
    .replace('  client Canned\n  retry_policy Twice\n', '  client Canned\n')
    .replace('provider offline\n', `provider offline\n  ${advisedText(problemsOf(text))}\n`);
  expect(problemsOf(corrected)).toBe('');
});
