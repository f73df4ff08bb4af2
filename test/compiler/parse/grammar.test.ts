import { expect, test } from 'vitest';
import { DefinitionGrammar } from '../../../src/compiler/1-parse/definition-grammar.ts';
import { parse } from '../../../src/compiler/1-parse/parse.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';

test('the grammar has only the ambiguities that it declares', () => {
  expect(() => new DefinitionGrammar(true)).not.toThrow();
});

test('a block comment does not begin without an end', () => {
  const { document, diagnostics } = parse(new SourceFile('a.svc', 'class A {// a\n  b int\n}\n'));
  expect(diagnostics).toEqual([]);
  expect(document.declarations).toMatchObject([{ kind: 'class', fields: [{ name: { text: 'b' } }] }]);
});

test('quoted strings have only the escapes of the language', () => {
  const file = new SourceFile('a.svc', 'client<llm> A {\n  x "a\\n\\t\\0\\\'\\"\\\\ \\u0041"\n}\n');
  const [node] = parse(file).document.declarations;
  expect(node).toMatchObject({ entries: [{ value: { kind: 'string', value: 'a\n\t\0\'"\\ \\u0041' } }] });
});
