import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from '../../../src/compiler/1-parse/parse.ts';
import { tokenize } from '../../../src/compiler/1-parse/tokenize.ts';
import { formatSource } from '../../../src/compiler/format-source.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';

/** All definition files of the project without syntax errors, including samples of other tests. */
const files = ['svc_src', 'test']
  .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => `${root}/${path}`))
  .filter((path) => /\.(?:svc|baml)$/u.test(path))
  .map((path) => new SourceFile(path, readFileSync(path, 'utf8')))
  .filter((file) => parse(file).readable);

function problemsOf(text: string): readonly string[] {
  const { diagnostics } = parse(new SourceFile('a.svc', text));
  return diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
}

/** Returns the content of a file without positions. */
function meaningOf(text: string): unknown {
  const PLACES = new Set(['span', 'contentStart']);
  const { declarations } = parse(new SourceFile('a.svc', text)).document;
  return JSON.parse(JSON.stringify(declarations, (key, value: unknown) => (PLACES.has(key) ? undefined : value)));
}

/** Returns all tokens except white space. */
function wordsOf(text: string): readonly string[] {
  const words = tokenize(text).filter((token) => token.tokenType.name !== 'WhiteSpace');
  return words.map((token) => (token.tokenType.name.endsWith('Comment') ? token.image.trimEnd() : token.image));
}

test('there are enough samples', () => {
  expect(files.length).toBeGreaterThanOrEqual(200);
});

test('formatting changes only white space, and keeps comments and prompts', () => {
  for (const { path, text } of files) expect(wordsOf(formatSource(text)), path).toEqual(wordsOf(text));
});

test('files without errors have no errors after formatting', () => {
  for (const { path, text } of files) expect(problemsOf(formatSource(text)), path).toEqual([]);
});

test('formatting does not change the content of a file', () => {
  for (const { path, text } of files) expect(meaningOf(formatSource(text)), path).toEqual(meaningOf(text));
});

test('formatting twice is the same as formatting once', () => {
  for (const { path, text } of files) {
    const once = formatSource(text);
    expect(formatSource(once), path).toBe(once);
  }
});

test('the sample definitions are formatted', () => {
  const samples = files.filter(({ path }) => path.startsWith('svc_src'));
  expect(samples.length).toBeGreaterThanOrEqual(5);
  for (const { path, text } of samples) expect(formatSource(text), path).toBe(text);
});

const UNTIDY = `

// A comment stays.   
class   A {

      b   string
    @description("below")
  c int // at the end


      d   "x"
  | "y"
@@alias("Z")

}
function F(
a: string
) -> string {
client   Offline
prompt #"
      untouched   {{ a }}
   "#
}`;

const TIDY = `// A comment stays.
class A {
  b string
    @description("below")
  c int // at the end

  d "x"
    | "y"
  @@alias("Z")
}
function F(
  a: string
) -> string {
  client Offline
  prompt #"
      untouched   {{ a }}
   "#
}
`;

test('lines are indented by brackets, at most one empty line stays, and prompts do not change', () => {
  expect(formatSource(UNTIDY)).toBe(TIDY);
});

const crlf = (text: string) => text.replaceAll('\n', '\r\n');

test('spaces in a line are normalized, and multi-line blocks have braces on lines of their own', () => {
  const dense = `class A{a map < string,int > ?
  b (int|string) [ ] @alias ("c")@check(d,{{ this }})// e
  {// f //} g "x"|"y" }
enum E{X}
function F(a:string ,b :int[] ?)->A{client "m/n"
prompt #"{{a}}"#}
client<llm> C{provider openai
options{stop [ "a","b" ],empty { } , url http://a/b?c=d // g
k:v}}
test T{functions[F]
type_builder{class B{x string ?
y int [ ]}
}}
`;
  expect(formatSource(dense)).toBe(`class A {
  a map<string, int>?
  b (int | string)[] @alias("c") @check(d, {{ this }}) // e
  {// f //} g "x" | "y"
}
enum E { X }
function F(a: string, b: int[]?) -> A {
  client "m/n"
  prompt #"{{a}}"#
}
client<llm> C {
  provider openai
  options {
    stop ["a", "b"], empty {}, url http://a/b?c=d // g
    k: v
  }
}
test T {
  functions [F]
  type_builder {
    class B {
      x string?
      y int[]
    }
  }
}
`);
});

test('a file with CRLF keeps CRLF', () => {
  expect(formatSource(crlf(UNTIDY))).toBe(crlf(TIDY));
});

test('an empty file stays empty', () => {
  expect(formatSource('')).toBe('');
  expect(formatSource('\n\n')).toBe('');
});

/** Functions and methods whose bodies are code, with brackets in strings, and one that calls a model. */
const WITH_CODE = `function F(n: int) -> int {
    if (n == 0 || n <= 1) { return 1 }
    let j = 2;
    j += 1; // one } more
  let s = "a } b";
  G(#"hi } "#)
  return #"x"#
}
class P {
  name   string
  function hello(self) -> string { if (self.a >= 2) { return "}" } }
}
function K(a: string) -> string {
  cleint   C
  promt #"{{ a }} { "#
}
`;

test('code stays as it is written', () => {
  expect(formatSource(WITH_CODE)).toBe(
    WITH_CODE.replace('name   string', 'name string').replace('cleint   C', 'cleint C'),
  );
});

test('code with brackets in strings hides nothing that follows, and a misspelt key is no code', () => {
  const { diagnostics, document } = parse(new SourceFile('a.svc', WITH_CODE));
  expect(document.declarations.map(({ kind }) => kind)).toEqual(['workflow', 'class', 'function']);
  expect(diagnostics.map(({ code }) => code)).toEqual(['parse/workflow', 'parse/method']);
});
