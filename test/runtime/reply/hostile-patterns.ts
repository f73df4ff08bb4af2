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
