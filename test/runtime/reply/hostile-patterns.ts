/** Texts that are tedious to read when they are repeated: each of them opens, closes or resembles something. */
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
];

/** Thousands of small objects: each of them is read as a value, and can be a member of a list. */
export const OBJECTS: readonly string[] = ['{a:1}', '{"name":""}', '{"a":1}\n'];

/** What a long text inside of a value may be made of, before it ends in a letter: most of it looks like one number. */
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

/** Types of every kind, some of which refer to themselves. */
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

export const HOSTILE_TYPES = ['Node', 'Data', 'Color', 'int', '(Leaf | Node | null)[]', '(int | Color)[]'];
