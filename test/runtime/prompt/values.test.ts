import { expect, test } from 'vitest';
import { renderText } from './sample-program.ts';

// How arguments of every type print.

const DEFINITIONS = `
enum Color {
  RED
  GREEN @alias("verde")
}

class Point {
  x float
  y float? @alias("why")
  tags string[]
  color Color?
  next Point?
  more map<string, Point>?
}

class Other {
  only string
}

type Anything = string | int | float | bool | null | Anything[] | map<string, Anything>
`;

test.each<readonly [string, unknown, string]>([
  ['string', 'a "b"', 'a "b"'],
  ['int', 3, '3'],
  ['int', -0, '0'],
  ['float', 3, '3.0'],
  ['float', 3.25, '3.25'],
  ['float', 1e21, '1000000000000000000000.0'],
  ['float', 1e-7, '0.0000001'],
  ['float?', 2, '2.0'],
  ['float?', null, 'null'],
  ['float?', undefined, ''],
  ['float[]', [1, 2.5], '[1.0, 2.5]'],
  ['map<string, float>', { a: 1 }, '{"a": 1.0}'],
  ['int | float', 3, '3'],
  ['float | int', 3, '3.0'],
  ['int | float', 3.5, '3.5'],
  ['bool', true, 'true'],
  ['null', null, 'null'],
  ['"x" | "y"', 'x', 'x'],
  ['1 | 2', 2, '2'],
  ['string[]', ['a', 'b "c"', 'd\n'], '["a", "b \\"c\\"", "d\\n"]'],
  ['string[][]', [['a'], []], '[["a"], []]'],
  ['(string?)[]', ['a', null], '["a", null]'],
  ['Color', 'GREEN', 'verde'],
  ['Color?', 'RED', 'RED'],
  ['Color | string', 'GREEN', 'verde'],
  ['Color | string', 'BLUE', 'BLUE'],
  ['Color[]', ['GREEN', 'RED'], '[verde, RED]'],
  ['map<Color, int>', { GREEN: 1 }, '{"GREEN": 1}'],
  ['map<string, Color>', { a: 'GREEN' }, '{"a": verde}'],
  ['Anything', { a: [1, 2.5, null, { b: 'x' }] }, '{"a": [1, 2.5, null, {"b": "x"}]}'],
  ['Point', { x: 1, tags: [] }, '{\n    "x": 1.0,\n    "tags": [],\n}'],
  [
    'Point',
    { x: 1, y: 2, tags: ['a', 'b'], color: 'GREEN', next: { x: 0.5, tags: [] } },
    '{\n    "x": 1.0,\n    "why": 2.0,\n    "tags": [\n        "a",\n        "b",\n    ],\n    "color": verde,\n' +
      '    "next": {\n        "x": 0.5,\n        "tags": [],\n    },\n}',
  ],
  ['Point | Other', { only: 'x' }, '{\n    "only": "x",\n}'],
  ['Other | Point', { x: 1, tags: [] }, '{\n    "x": 1.0,\n    "tags": [],\n}'],
  ['Point[] | Color[]', ['GREEN'], '[verde]'],
  ['Other[]', [{ only: 'x' }], '[{\n    "only": "x",\n}]'],
])('%s %j', (type, value, expected) => {
  const setup = { definitions: DEFINITIONS, parameters: `v: ${type}`, args: { v: value } };
  expect(renderText('{{ v }}', setup)).toBe(expected);
});

test.each([
  ['m[e]', '1'],
  ['m[Color.GREEN]', '1'],
  ['m[e.value]', '1'],
  ['m["verde"]', ''],
  ['m.get(e)', '1'],
  ['m.get(Color.RED)', 'null'],
  ['m.get(Color.RED, 5)', '5'],
  ['e in m', 'true'],
  ['Color.RED in m', 'false'],
  ['points[e].x', '2.0'],
  ['e in points', 'true'],
  ['points.get(e).x', '2.0'],
  ['{e: 1}[e]', '1'],
  ['e in {e: 1}', 'true'],
  ['{"GREEN": 1}[e]', '1'],
])('values of enums are keys of maps by their real names: %s', (expression, expected) => {
  const parameters = 'm: map<Color, int>, points: map<Color, Point>, e: Color';
  const args = { m: { GREEN: 1 }, points: { GREEN: { x: 2, tags: [] } }, e: 'GREEN' };
  expect(renderText(`{{ ${expression} }}`, { definitions: DEFINITIONS, parameters, args })).toBe(expected);
});

test.each([
  ['p.x', '1.0'],
  ['p.x + 1', '2.0'],
  ['p.x|int', '1'],
  ['p.why', ''],
  ['p.y', 'null'],
  ['p.color', 'verde'],
  ['p.color.value', 'GREEN'],
  ['p.color == Color.GREEN', 'true'],
  ['p.color == "GREEN"', 'true'],
  ['p.color in ["GREEN"]', 'true'],
  ['p.color is string', 'false'],
  ['p.more.k.x', '4.0'],
  ['p.more["k"].tags[0]', 't'],
  ['p.next is defined', 'false'],
  ['p|length', '5'],
  ['p.keys()|join(",")', 'x,y,tags,color,more'],
  ['p is mapping', 'true'],
  ['"x" in p', 'true'],
  ['p == p', 'true'],
  ['p.items()|first', '["x", 1.0]'],
  ['p|tojson', '{"x":1.0,"y":null,"tags":["a"],"color":"verde","more":{"k":{"x":4.0,"tags":["t"]}}}'],
  ['p|format(type="json")', '{"x":1,"why":null,"tags":["a"],"color":"verde","more":{"k":{"x":4,"tags":["t"]}}}'],
  ['p.constructor', ''],
  ['p["__proto__"]', ''],
])('%s of an instance', (expression, expected) => {
  const p = { x: 1, y: null, tags: ['a'], color: 'GREEN', more: { k: { x: 4, tags: ['t'] } } };
  expect(renderText(`{{ ${expression} }}`, { definitions: DEFINITIONS, parameters: 'p: Point', args: { p } })).toBe(
    expected,
  );
});

test.each(['json', 'yaml', 'toon'])('format refuses media, which %s would lose', (type) => {
  const setup = {
    definitions: 'class Page { title string\n scan image }',
    parameters: 'p: Page',
    args: { p: { title: 'T', scan: { url: 'http://x/i.png' } } },
  };
  expect(renderText(`{{ p|format(type="${type}") }}`, setup)).toContain('text cannot contain image data');
});
