import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { CLIENT, readSample, rendererIfValid } from './sample-program.ts';

// Renders the same expressions and templates with svc and with minijinja, where both have the same dialect.

interface MinijinjaEnvironment {
  trimBlocks: boolean;
  lstripBlocks: boolean;
  enablePyCompat(): void;
  renderStr(template: string, context: unknown): string;
}
const { Environment } = createRequire(import.meta.url)('minijinja-js') as {
  readonly Environment: new () => MinijinjaEnvironment;
};
const minijinja = new Environment();
minijinja.trimBlocks = true;
minijinja.lstripBlocks = true;
minijinja.enablePyCompat();

// Keys in alphabetical order, which is the only order that minijinja-js keeps.
const CONTEXT = { s: 'abc', n: null, l: ['b', 'a', 'a'], nums: [3, 1, 2], m: { j: 2, k: 1 }, t: true };
const SIGNATURE = 's: string, n: string?, l: string[], nums: int[], m: map<string, int>, t: bool';

/** Intended differences: the output of svc, or ERROR, by reason. */
const INTENDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'none prints "null", as prompts in these definitions always did': {
    None: 'null',
    'none|default("z")': 'null',
    'none|d("x")': 'null',
    '0 or none': 'null',
    'm.get("zz")': 'null',
  },
  'maps keep their order': {
    '{1: "a", true: "b"}': '{1: "a", true: "b"}',
    '{"b":1,"a":2}': '{"b": 1, "a": 2}',
    '{"b":1,"a":2}|items': '[["b", 1], ["a", 2]]',
    '{"b":1,"a":2}|tojson': '{"b":1,"a":2}',
  },
  'a prompt is not HTML': {
    '{% autoescape true %}{{ "<" }}{% endautoescape %}': 'ERROR',
  },
  'named arguments and defaults of the Jinja documentation work': {
    '"a\\nb"|indent': 'a\n    b',
    '"a\\nb"|indent(width=1)': 'a\n b',
    '"a\\n\\nb"|indent(2, first=true)': '  a\n\n  b',
    'm.get("zz",5)': '5',
    '{% macro f(a,b=a) %}{{a}}{{b}}{% endmacro %}{{f(1)}}': '11',
    '{% set a,b=[1,2] %}{{a}}{{b}}': '12',
    '{% set a,b=1,2 %}{{a}}{{b}}': '12',
    '+5': '5',
  },
  'slices are those of Python': { 's[-5:2]': 'ab', 'l[-1:0:-1]': '["a", "a"]' },
  'the filters that prompts have': {
    'l|zip(nums)': '[["b", 3], ["a", 1], ["a", 2]]',
    'm|last': 'k',
    debug: '<function debug>',
    'debug()': '',
  },
  'true equals 1, so it sorts as 1': { '[1, "a", none, true]|sort': '[none, 1, true, "a"]' },
  'a group has the first spelling of its key': {
    '[{"a": "x"}, {"a": "X"}]|groupby("a")': '[["x", [{"a": "x"}, {"a": "X"}]]]',
  },
  'integers that a double cannot represent are refused': { '9007199254740993': 'ERROR' },
  'numbers that are none are refused before they run': { '1e400': 'ERROR', '5.': 'ERROR' },
  'an attribute of a number is not there': { '1.foo': '' },
};
const INTENDED_LINES = new Map(Object.values(INTENDED).flatMap((table) => Object.entries(table)));

const LINES = readSample('differential.txt').trim().split('\n');
const SAME = LINES.filter((line) => !INTENDED_LINES.has(line));

test('there are enough samples, and every intended difference is one of them', () => {
  expect(SAME.length).toBeGreaterThan(700);
  expect([...INTENDED_LINES.keys()].filter((line) => !LINES.includes(line))).toEqual([]);
});

test.each(SAME)('%s', (line) => {
  expect(inSvc(line)).toBe(inMinijinja(line));
});

test.each([...INTENDED_LINES])('differs: %s', (line, expected) => {
  expect(inSvc(line)).toBe(expected);
  expect(inMinijinja(line)).not.toBe(expected);
});

function templateOf(line: string): string {
  return line.includes('{%') || line.includes('{{') || line.includes('{#') ? line : `{{ ${line} }}`;
}

function inMinijinja(line: string): string {
  try {
    return minijinja.renderStr(templateOf(line), CONTEXT);
  } catch {
    return 'ERROR';
  }
}

function inSvc(line: string): string {
  const source = `function F(${SIGNATURE}) -> string {\n  client "openai/m1"\n  prompt ####"|${templateOf(line)}|"####\n}\n`;
  const result = rendererIfValid(source)?.render('F', CONTEXT, CLIENT);
  const part = result?.ok === true ? result.value[0]?.parts[0] : undefined;
  return part?.kind === 'text' ? part.text.slice(1, -1) : 'ERROR';
}
