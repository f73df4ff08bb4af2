/** Texts that are expensive to read when they are repeated: each opens, closes or resembles something. */
export const PATTERNS: readonly string[] = [
  '[',
  '{',
  '{"a":',
  '[{',
  '"',
  '\\',
  '\\u',
  "'",
  '`',
  '```',
  '```json\n{',
  '{"value": "a" b" ',
  ' \n',
  '{}',
  '[1,',
  ',',
  '/*',
  '//',
  '<think>',
  '</think>',
  '{"children":[',
  'a: b, ',
  '{a',
  '"a" "b" ',
  '1,111',
  '{"value":{"name":',
  '“',
  'RED GREEN ',
  ']}',
  '{"extra":{"k":',
  '[]',
  '(1) ',
  '<parameter=a>',
  '<arg_key>a</arg_key>',
  '`a`: "b" ',
  '| <p>\n',
  "not ''''''''''''''''''''#RED ",
];

/** Small objects for replies with thousands of them: each is read as a value and can be a member of a list. */
export const OBJECTS: readonly string[] = ['{a:1}', '{"name":""}', '{"a":1}\n'];

/** Parts of a long string that ends in a letter; most of it resembles a number. */
export const LONG_TEXTS: readonly string[] = [
  '1',
  '0',
  ',',
  ' ',
  '.',
  '1,',
  '1.',
  '1,111',
  '1e',
  '-',
  '1/',
  '1 /',
  '$',
];

/** Types of every kind, some of them recursive. */
export const HOSTILE_DEFINITIONS = `
class Leaf {
  name string
  tags string[]
}
class Node {
  value (int | string | Leaf)?
  children Node[]
  extra map<string, Leaf | Node | string>
}
enum Color {
  RED
  GREEN @description("the colour of grass")
}
type Data = int | float | bool | string | null | Data[] | map<string, Data>
`;

export const HOSTILE_TYPES = [
  'Node',
  'Data',
  'Color',
  'int',
  '(Leaf | Node | null)[]',
  '(int | Color)[]',
  'Leaf | Color | string',
  'string?',
];

/** Marks that open or close something. */
const MARKS: readonly string[] = [
  '```',
  '```json\n',
  '~~~\n',
  '<answer>',
  '</answer>',
  '<think>',
  '</think>',
  '<a b="c">',
  '<!--',
  '-->',
  '{',
  '}',
  '[',
  ']',
  '(',
  ')',
  '"',
  "'",
  '`',
  '“',
  '”',
  '"""',
  '\n- ',
  '\n1. ',
  '\n# ',
  '\n|',
  '|--|\n',
  '\n> ',
  String.raw`\boxed{`,
  '**',
  '//',
  '/*',
  '*/',
  'name: ',
  'Answer: ',
  'RED ',
  '1,',
  '\n',
  ' ',
];

/** Types for texts of MARKS: a string, a class, a list, an enum and a union. */
export const PAIR_TYPES = ['string?', 'Leaf', '(int | Color)[]', 'Color', 'Leaf | Color | int | string[]'];

/** Every two of MARKS: in turn, and one after the other. `repeat` returns a text of about `size` characters. */
export const PAIRS: readonly { readonly name: string; readonly repeat: (size: number) => string }[] = MARKS.flatMap(
  (first, at) =>
    MARKS.flatMap((second, other) => {
      const [a, b] = [JSON.stringify(first), JSON.stringify(second)];
      const both = first + second;
      const inTurn = { name: `${a} ${b}`, repeat: (size: number) => both.repeat(Math.ceil(size / both.length)) };
      const repeat = (size: number): string =>
        first.repeat(Math.ceil(size / 2 / first.length)) + second.repeat(Math.ceil(size / 2 / second.length));
      const apart = { name: `${a}s, then ${b}s`, repeat };
      return at === other ? [inTurn] : at < other ? [inTurn, apart] : [apart];
    }),
);

/** A text that a regular expression fails to match only at its end. If the expression is not linear, it tries again at each part. */
interface Spoiled {
  readonly type: string;
  readonly start: string;
  readonly part: string;
  readonly end: string;
}

export function spoiledText({ start, part, end }: Spoiled, size: number): string {
  return start + part.repeat(Math.ceil(size / part.length)) + end;
}

export const SPOILED: readonly Spoiled[] = [
  { type: 'Color', start: '', part: 'a', end: '!' },
  { type: 'Color', start: 'x', part: '\n', end: 'x!' },
  { type: 'Color', start: 'x', part: '\n- ', end: 'x!' },
  { type: 'int', start: '', part: '111 ', end: '1!' },
  { type: 'int[]', start: '(1', part: ',1', end: '' },
  { type: 'Leaf', start: '"name": 1', part: '\n', end: '1' },
  { type: 'Leaf', start: 'a: b', part: ' ', end: 'c!' },
  { type: 'Leaf', start: 'a:', part: ' ', end: 'x\ry!' },
  { type: 'Leaf', start: '# ', part: ' ', end: 'x\ry!' },
  { type: 'Leaf', start: '# ', part: '1', end: 'a\nname: b' },
  { type: 'Leaf', start: '', part: "\t'\"':\r", end: '\n' },
  { type: 'Leaf', start: '{"name": "', part: ']', end: 'a' },
];
