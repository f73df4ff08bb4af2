import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { parse } from '../../../src/compiler/1-parse/parse.ts';
import { tokenize } from '../../../src/compiler/1-parse/tokenize.ts';
import { formatSource } from '../../../src/compiler/format-source.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';

/** Schemas from another implementation of the language, if they are next to the checkout. */
const CASES = fileURLToPath(new URL('../../../../shared/conformance/cases.json', import.meta.url));

function schemas(): readonly SourceFile[] {
  if (!existsSync(CASES)) return [];
  const cases = JSON.parse(readFileSync(CASES, 'utf8')) as readonly { readonly id: string; readonly schema: string }[];
  return cases.map(({ id, schema }) => new SourceFile(id, schema));
}

/** All definition files of the project, including samples of other tests, and these schemas. */
const samples = [
  ...['svc_src', 'templates', 'test', 'bench/compat']
    .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => `${root}/${path}`))
    .filter((path) => /\.(?:svc|baml)$/u.test(path))
    .map((path) => new SourceFile(path, readFileSync(path, 'utf8'))),
  ...schemas(),
];
/** Those that svc fmt formats. */
const files = samples.filter((file) => parse(file).readable);

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

/** Returns all tokens except white space, each with its type. */
function wordsOf(text: string): readonly string[] {
  const words = tokenize(text).filter((token) => token.tokenType.name !== 'WhiteSpace');
  return words.map(({ tokenType: { name }, image }) => `${name} ${name.endsWith('Comment') ? image.trimEnd() : image}`);
}

test('there are enough samples', () => {
  expect(files.length).toBeGreaterThanOrEqual(700);
});

test('formatting changes only white space, and keeps comments and prompts', () => {
  for (const { path, text } of files) expect(wordsOf(formatSource(text)), path).toEqual(wordsOf(text));
});

/** Text that begins, ends or separates parts of definitions, or that no definition contains. */
const BITS = [
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  '<',
  '>',
  '"',
  '#"',
  '"#',
  '{{',
  '}}',
  '{//',
  '//}',
  '//',
  '///',
  '/*',
  '@',
  '@@',
];
BITS.push(
  '\n',
  ' ',
  '\t',
  '\r',
  '\f',
  '\u00a0',
  '\u2028',
  '\ufeff',
  ',',
  ':',
  ';',
  '=',
  '->',
  '|',
  '?',
  "'",
  '\\',
  'é',
  '#',
);

test('a file with an inserted or a removed character is refused, or keeps its tokens', () => {
  const change = fc.record({
    file: fc.constantFrom(...samples),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    bit: fc.constantFrom('', ...BITS),
  });
  let formatted = 0;
  assertProperty(
    fc.property(change, ({ file, at, bit }) => {
      const offset = Math.floor(at * file.text.length);
      const text = file.text.slice(0, offset) + bit + file.text.slice(bit === '' ? offset + 1 : offset);
      if (!parse(new SourceFile('a.svc', text)).readable) return;
      formatted += 1;
      expect(wordsOf(formatSource(text))).toEqual(wordsOf(text));
      expect(problemsOf(formatSource(text))).toEqual(problemsOf(text));
    }),
    { numRuns: 2000 },
  );
  expect(formatted).toBeGreaterThan(400);
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
  const own = files.filter(({ path }) => path.startsWith('svc_src'));
  expect(own.length).toBeGreaterThanOrEqual(5);
  for (const { path, text } of own) expect(formatSource(text), path).toBe(text);
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

/** Statements and expressions of code; brackets in strings, raw strings and comments have no partner. */
const STATEMENTS = [
  'let s = "a } b";',
  'let m = {"k": "}"};',
  'let client = 5;',
  'client.call("x")',
  'prompt[0]',
  'G(#"hi }"#)',
  'G(##"a "# { "##)',
  '"say \\"}\\" {"',
  '// it\'s "open {\n  n',
  'x = #"\nclass Z {\n  a int\n}\n"#',
  'if (a < 2) { return "}" }',
  'for (let i in xs) {\n    x += 1;\n  }',
  'match x { "a" => { 1 } }',
  '[1, 2, "]"]',
  '@x',
  "'c'",
  '{}',
];
const BODIES: readonly ((code: string) => string)[] = [
  (code) => `function F(n: int) -> int {\n  ${code}\n}\n`,
  (code) => `function F(n: int) -> int { ${code} }\n`,
  (code) => `class K {\n  x int\n  function f(self, a: int) -> int {\n    ${code}\n  }\n  y int\n}\n`,
];

test('code is one token, which hides nothing that follows, and stays as it is written', () => {
  const code = fc
    .array(fc.constantFrom(...STATEMENTS), { minLength: 1, maxLength: 5 })
    .map((each) => each.join('\n  '));
  assertProperty(
    fc.property(code, fc.constantFrom(...BODIES), (body, head) => {
      const text = `${head(body)}class After {\n  name string\n}\n`;
      const { diagnostics, document } = parse(new SourceFile('a.svc', text));
      expect(diagnostics.map(({ code: each }) => each)).toEqual([
        document.declarations[0]?.kind === 'class' ? 'parse/method' : 'parse/workflow',
      ]);
      expect(document.declarations.map(({ name }) => name.text).at(-1)).toBe('After');
      expect(document.declarations).toHaveLength(2);
      expect(
        tokenize(text)
          .filter(({ tokenType }) => tokenType.name === 'Code')
          .map(({ image }) => image),
      ).toEqual([body]);
      expect(formatSource(text)).toBe(text);
    }),
    { numRuns: 500 },
  );
});
