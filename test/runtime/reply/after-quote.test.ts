import { expect, test } from 'vitest';
import { AFTER_QUOTE, type Following } from '../../../src/runtime/reply/candidates/scan/after-quote.ts';
import type { ReplyNode } from '../../../src/runtime/reply/candidates/scan/reply-node.ts';
import { Scanner } from '../../../src/runtime/reply/candidates/scan/scanner.ts';
import { TreeSink } from '../../../src/runtime/reply/candidates/scan/tree-sink.ts';

/** For each row of the table, texts in which the first quote that is in doubt is followed by what the row names. */
const CASES: Readonly<Record<Following, readonly (readonly [text: string, value: unknown])[]>> = {
  'the end': [['{"a": "x"', { a: 'x' }]],
  'a colon': [
    ['{"a": "say "b": c"}', { a: 'say "b": c' }],
    ['[{"k": 1}, "k": 2]', [{ k: 1 }, { k: 2 }]],
  ],
  brackets: [
    ['{"a": "x"}', { a: 'x' }],
    ['{"a": "an open [ bracket"}', { a: 'an open [ bracket' }],
  ],
  'brackets of the string': [['["[^"]*", "b"]', ['[^"]*', 'b']]],
  'a comma and a key': [['{"a": "say "x"", b: 2}', { a: 'say "x"', b: 2 }]],
  'a comma and a value': [
    ['["a", "b"]', ['a', 'b']],
    ['{"a": "x", "y", "b": 4}', { a: 'x', b: 4 }],
  ],
  'a comma and no member': [['{"a": "x",}', { a: 'x' }]],
  'a comma and text': [
    ['{"a": "the 27", 32" and 40" models"}', { a: 'the 27", 32" and 40" models' }],
    ['["a 27", good one", "b"]', ['a 27", good one', 'b']],
  ],
  'a key': [['{"a": "x" "b": 1}', { a: 'x', b: 1 }]],
  'a string': [
    ['["a" "b"]', ['a', 'b']],
    ['{"a" "x"}', { a: 'x' }],
  ],
  'a string on the next line': [['{"a": "x "\n"y"}', { a: 'x y' }]],
  'plus and a string': [['{"a": "x " + "y"}', { a: 'x y' }]],
  'a number or word of JSON': [
    ['["a" 2, "b" true]', ['a', 2, 'b', true]],
    ['{"a"2}', { a: 2 }],
  ],
  'a list or object': [['{"a" [1]}', { a: [1] }]],
  'a comment': [['{"a": "x" // y\n}', { a: 'x' }]],
  'a fence': [['{"a": "x"\n```', { a: 'x' }]],
  'a note in parentheses': [['["a", "b" (see c), "d"]', ['a', 'b', 'd']]],
  words: [
    ['{"a": "x" y, "b": ["c"]}', { a: 'x y', b: ['c'] }],
    ['{"a": ["x" y], "b": ["c"]}', { a: ['x', 'y'], b: ['c'] }],
  ],
  'an item without its quote': [
    ['["a" b", "c"]', ['a', 'b', 'c']],
    ['["a" b"]', ['a', 'b']],
    ['{"a": "x" y", "b": 1}', { a: 'x" y', b: 1 }],
  ],
  'words and a quote': [
    ['{"a": "say "x" now"}', { a: 'say "x" now' }],
    ['["say "x" now", "b"]', ['say "x" now', 'b']],
  ],
};

const ROWS = Object.entries(CASES).flatMap(([row, cases]) => cases.map(([text, value]) => [row, text, value] as const));

test('every row of the table has a case', () => {
  expect(Object.keys(CASES)).toEqual(Object.keys(AFTER_QUOTE));
});

test.each(ROWS)('%s follows a quote: %s', (_, text, value) => {
  expect(valueOf(read(text))).toEqual(value);
});

/** Texts whose quotes and brackets are wrong in other ways. */
const OTHERS: readonly (readonly [text: string, value: unknown])[] = [
  ['{"a": "hello wor"b": 4}', { a: 'hello wor', b: 4 }],
  ['{"a": "hello, "b": 4}', { a: 'hello', b: 4 }],
  ['{""a"": ""x""}', { a: 'x' }],
  ['{"a": """print("""x""")"""}', { a: 'print("""x""")' }],
  ['{"a": [1, 2], [3], "b": 4}', { a: [1, 2, 3], b: 4 }],
  [
    '{"a": [[1, 2], 3, 4], [5, 6]]}',
    {
      a: [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    },
  ],
  ['{"a": 1}, "b": 2}', { a: 1, b: 2 }],
  ['[{"a": 1}]},\n{"a": 2}]', [{ a: 1 }, { a: 2 }]],
  [
    '[{"a": 1, "b": 2, "a": 3, "b": 4}]',
    [
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ],
  ],
  ['[{"a": 1{"a": 2}]', [{ a: 1 }, { a: 2 }]],
  ['{"a": true, COMMENT "b": 1}', { a: true, b: 1 }],
  ['["y"\\, "z"]', ['y', 'z']],
];

test.each(OTHERS)('%s is read as intended', (text, value) => {
  expect(valueOf(read(text))).toEqual(value);
});

function read(text: string): ReplyNode | undefined {
  const scanner = new Scanner(new TreeSink());
  scanner.restart(true);
  scanner.read(text, 0, true);
  return scanner.root;
}

function valueOf(node: ReplyNode | undefined): unknown {
  if (node === undefined) return undefined;
  const items = node.items.map(valueOf);
  if (node.kind === 'list') return items;
  if (node.kind === 'object') return Object.fromEntries(node.keys.map((key, index) => [key, items[index]]));
  return node.kind === 'string' ? node.text : JSON.parse(node.text);
}
