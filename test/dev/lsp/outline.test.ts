import { SymbolKind } from 'vscode-languageserver-protocol';
import { expect, test } from 'vitest';
import {
  codeLenses,
  documentSymbols,
  foldingRanges,
  formattingEdits,
  workspaceSymbols,
} from '../../../src/dev/lsp/outline.ts';
import { uriOf } from '../../../src/dev/lsp/places.ts';
import { semanticTokens, TOKEN_LEGEND } from '../../../src/dev/lsp/semantic-tokens.ts';
import { Workspace } from '../../../src/dev/lsp/workspace.ts';
import { applied, at, edited, OPTIONS, workspace } from './edited.ts';

const TEXT = `// A comment
// of two lines.

// Another one.
class Person {
  name string @description("x")
  mood Mood
}

enum Mood {
  Calm
}

function Greet(person: Person) -> string {
  client Fast
  prompt #"
    {{ person.name }}
  "#
}

client<llm> Fast {
  provider offline
  options {
    replies [
      { reply "a" }
    ]
  }
}

test One {
  functions [Greet]
  args { person { name "a", mood Calm } }
}

test Both {
  functions [Greet, Other]
}
`;

function opened(text = TEXT) {
  const { program } = edited({ 'a.svc': text });
  const document = program.document(at('a.svc'));
  if (document === undefined) throw new Error('there is no document');
  return { program, document };
}

test('the outline has the definitions in order, with fields and values', () => {
  const symbols = documentSymbols(opened().document);
  expect(symbols.map(({ name, kind, children = [] }) => [name, kind, ...children.map((child) => child.name)])).toEqual([
    ['Person', SymbolKind.Class, 'name', 'mood'],
    ['Mood', SymbolKind.Enum, 'Calm'],
    ['Greet', SymbolKind.Function],
    ['Fast', SymbolKind.Interface],
    ['One', SymbolKind.Event],
    ['Both', SymbolKind.Event],
  ]);
  expect(symbols[0]).toMatchObject({
    range: { start: { line: 4, character: 0 }, end: { line: 7, character: 1 } },
    selectionRange: { start: { line: 4, character: 6 }, end: { line: 4, character: 12 } },
  });
});

test('symbols of the workspace match the letters of the query in order', () => {
  const own = new Workspace(OPTIONS);
  own.edit({ uri: 'untitled:a', version: 1, text: TEXT });
  const named = (query: string) => workspaceSymbols(own, query).map(({ name, containerName }) => [name, containerName]);
  expect(named('mo')).toEqual([
    ['mood', 'Person'],
    ['Mood', undefined],
  ]);
  expect(named('PRSN')).toEqual([['Person', undefined]]);
  expect(named('nosuch')).toEqual([]);
  expect(named('').length).toBe(9);
});

test('blocks, lists, prompts and comments of several lines fold', () => {
  const ranges = foldingRanges(opened().document).map(({ startLine, endLine, kind }) => [startLine, endLine, kind]);
  expect(ranges.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
    [0, 1, 'comment'],
    [4, 6, undefined],
    [9, 10, undefined],
    [13, 17, undefined],
    [15, 16, undefined],
    [20, 26, undefined],
    [22, 25, undefined],
    [23, 24, undefined],
    [29, 31, undefined],
    [34, 35, undefined],
  ]);
});

test('tests have lenses for each of their functions, and functions one with their first test', () => {
  const uri = uriOf(at('a.svc'));
  const lenses = codeLenses(opened().program, workspace, at('a.svc'));
  expect(
    lenses.map(({ range, command }) => [range.start.line, command?.title, command?.command, command?.arguments]),
  ).toEqual([
    [13, 'Open in playground', 'svc.openPlayground', ['Greet', 'One', uri]],
    [29, 'Run test', 'svc.runTest', ['Greet', 'One', uri]],
    [29, 'Open in playground', 'svc.openPlayground', ['Greet', 'One', uri]],
    [34, 'Run test of Greet', 'svc.runTest', ['Greet', 'Both', uri]],
    [34, 'Open Greet in playground', 'svc.openPlayground', ['Greet', 'Both', uri]],
    [34, 'Run test of Other', 'svc.runTest', ['Other', 'Both', uri]],
    [34, 'Open Other in playground', 'svc.openPlayground', ['Other', 'Both', uri]],
  ]);
});

test('formatting is one edit, none for a formatted file, and refused for one with syntax errors', () => {
  const { program } = opened('class A {\n      b   int\n\n\n\n  c int\n}');
  const edits = formattingEdits(program, at('a.svc')) ?? [];
  expect(applied(program, at('a.svc'), edits)).toBe('class A {\n  b int\n\n  c int\n}\n');
  expect(formattingEdits(opened('class A {\n  b int\n}\n').program, at('a.svc'))).toEqual([]);
  expect(formattingEdits(opened('class A {\n  b int\n').program, at('a.svc'))).toBeUndefined();
});

/** `text type modifiers` of each token. */
function tokensOf(text: string): readonly string[] {
  const data = semanticTokens(opened(text).program, at('a.svc'));
  const lines = text.split('\n');
  const found: string[] = [];
  let [line, character] = [0, 0];
  for (let index = 0; index < data.length; index += 5) {
    const [lineDelta = 0, characterDelta = 0, length = 0, type = 0, modifiers = 0] = data.slice(index, index + 5);
    line += lineDelta;
    character = lineDelta === 0 ? character + characterDelta : characterDelta;
    const names = TOKEN_LEGEND.tokenModifiers.filter((_name, bit) => (modifiers & (1 << bit)) > 0);
    const word = lines[line]?.slice(character, character + length);
    found.push([word, TOKEN_LEGEND.tokenTypes[type], ...names].join(' '));
  }
  return found;
}

test('semantic tokens name the meaning of each word once, in order', () => {
  expect(tokensOf(TEXT)).toEqual([
    'Person class declaration',
    'name property declaration',
    'string type defaultLibrary',
    'mood property declaration',
    'Mood enum',
    'Mood enum declaration',
    'Calm enumMember declaration',
    'Greet function declaration',
    'person parameter declaration',
    'Person class',
    'string type defaultLibrary',
    'Fast variable readonly',
    'person parameter',
    'name property',
    'Fast variable declaration readonly',
    'One function declaration',
    'Greet function',
    'person parameter',
    'name property',
    'mood property',
    'Calm enumMember',
    'Both function declaration',
    'Greet function',
  ]);
});
