import { expect, test } from 'vitest';
import { DefinitionGrammar } from '../../../src/compiler/1-parse/definition-grammar.ts';
import { parse } from '../../../src/compiler/1-parse/parse.ts';
import { tokenize } from '../../../src/compiler/1-parse/tokenize.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';

const tokensOf = (text: string): readonly string[] =>
  tokenize(text)
    .filter((token) => token.tokenType.name !== 'WhiteSpace')
    .map((token) => `${token.tokenType.name} ${token.image}`);

const client = (line: string): readonly string[] => tokensOf(`client<llm> A {\n${line}\n}`).slice(6, -1);

test('the grammar has only the ambiguities that it declares', () => {
  expect(() => new DefinitionGrammar(true)).not.toThrow();
});

test('a value without quotes ends at the line, a comma, a closing bracket or a comment after a space', () => {
  expect(client('url https://h/p?a=b // note')).toEqual([
    'Identifier url',
    'Unquoted https://h/p?a=b',
    'LineComment // note',
  ]);
  expect(client('x a b, y c')).toEqual(['Identifier x', 'Unquoted a b', 'Comma ,', 'Identifier y', 'Unquoted c']);
  expect(client('x [a b]')).toEqual(['Identifier x', 'LeftBracket [', 'Unquoted a b', 'RightBracket ]']);
});

test('in a class the same characters are names and types', () => {
  expect(tokensOf('class A { x int//note\n}').slice(3)).toEqual([
    'Identifier x',
    'Identifier int',
    'LineComment //note',
    'RightBrace }',
  ]);
});

test('a raw string is one token and ends at a quote with as many signs as it begins with', () => {
  expect(client('x ##"a "# b"##')).toEqual(['Identifier x', 'RawString ##"a "# b"##']);
});

test('an expression ends at its own braces, not at those in its strings', () => {
  expect(tokensOf('class A { a int @check(x, {{ "}}" in this }}) }')).toContain('Expression {{ "}}" in this }}');
});

test('a block comment can span lines, and does not begin without an end', () => {
  expect(tokensOf('{// a\n b //}class')).toEqual(['BlockComment {// a\n b //}', 'Word class class']);
  expect(tokensOf('class A {// a\n}')).toContain('LineComment // a');
});

test('a doc comment belongs to the definition that follows without an empty line', () => {
  const file = new SourceFile('a.svc', '/// no\n\n/// yes\n/// more\nclass A {\n}\n');
  expect(parse(file).document.declarations[0]?.documentation).toBe('yes\nmore');
});

test('quoted strings have only the escapes of the language', () => {
  const file = new SourceFile('a.svc', 'client<llm> A {\n  x "a\\n\\t\\0\\\'\\"\\\\ \\u0041"\n}\n');
  const [node] = parse(file).document.declarations;
  const value = node?.kind === 'client' ? node.entries[0]?.value : undefined;
  expect(value?.kind === 'string' && value.value).toBe('a\n\t\0\'"\\ \\u0041');
});
