/** A return type whose replies are measured at several sizes. */
export interface Schema {
  readonly name: string;
  readonly definitions: string;
  readonly returns: string;
  /** Returns the JSON text of one value that a member of a list of values can be; `seed`: its number. */
  member(seed: number): string;
  /** Keys of the type, for replies that use them in other ways. */
  readonly keys: readonly string[];
}

/** A reply of about `size` characters. */
export interface Pattern {
  readonly name: string;
  reply(schema: Schema, size: number): string;
}

// --- types -------------------------------------------------------------------------------------------------------------

/** A list of a recursive union of classes of which every field is optional. */
function blocks(count: number): Schema {
  const names = Array.from({ length: count }, (_, at) => `B${at}`);
  const classes = names.map(
    (name, at) => `class ${name} {\n  kind${at} string?\n  note string?\n  children Block[]?\n  next Block?\n}\n`,
  );
  return {
    name: `${count} all-optional classes`,
    definitions: `${classes.join('')}type Block = ${names.join(' | ')}\n`,
    returns: 'Block[]',
    member: (seed) => block((5 * seed) % count, 2, count),
    keys: ['kind0', 'kind1', 'note', 'children', 'next'],
  };
}

function block(rank: number, depth: number, count: number): string {
  const children = depth === 0 ? [] : [block((rank + 1) % count, depth - 1, count), block(rank, depth - 1, count)];
  return `{"kind${rank}": "block", "note": "n", "children": [${children.join(', ')}]}`;
}

/** As `blocks`, but each field spells out the union in an order of its own. */
function spelledOut(count: number): Schema {
  const names = Array.from({ length: count }, (_, at) => `U${at}`);
  const union = (first: number): string => names.map((_, at) => names[(at + first) % count] ?? '').join(' | ');
  const classes = names.map(
    (name, at) => `class ${name} {\n  kind${at} string?\n  children (${union(at)})[]?\n  next (${union(at + 1)})?\n}\n`,
  );
  return {
    ...blocks(count),
    name: `${count} classes, unions spelled out`,
    definitions: classes.join(''),
    returns: `(${union(0)})[]`,
  };
}

/** Classes whose only field takes the value of the union again. */
function wrappers(count: number): Schema {
  const names = Array.from({ length: count }, (_, at) => `W${at}`);
  return {
    name: `${count} classes of one field`,
    definitions: `${names.map((name, at) => `class ${name} {\n  only${at} (Wrap | int)[]\n}\n`).join('')}type Wrap = ${names.join(' | ')}\n`,
    returns: 'Wrap[]',
    member: (seed) => `{"only${seed % count}": [{"only${(seed + 1) % count}": [${seed}]}]}`,
    keys: ['only0', 'only1'],
  };
}

const DOCUMENT: Schema = {
  name: 'document of 4 classes',
  definitions: `
class Heading {
  level int
  text string
}
class Paragraph {
  text string
  bold bool?
}
class Table {
  header string[]
  rows (string | float | null)[][]
}
class Items {
  ordered bool
  items Node[]
}
type Node = Heading | Paragraph | Table | Items
`,
  returns: 'Node[]',
  member: (seed) => documentNode(seed, 3),
  keys: ['text', 'items', 'rows', 'level'],
};

function documentNode(seed: number, depth: number): string {
  switch (seed % 4) {
    case 0:
      return `{"level": ${1 + (seed % 3)}, "text": "Chapter ${seed}"}`;
    case 1:
      return `{"text": "A paragraph, number ${seed}, of some length that says little.", "bold": true}`;
    case 2:
      return `{"header": ["a", "b"], "rows": [["x", ${seed}], [null, 1.5], ["y", "z"]]}`;
    default:
      return `{"ordered": false, "items": [${depth === 0 ? '' : [seed + 1, seed + 2, seed + 4].map((next) => documentNode(next, depth - 1)).join(', ')}]}`;
  }
}

const JSON_ALIAS: Schema = {
  name: 'JSON alias',
  definitions: 'type Data = int | string | bool | null | Data[] | map<string, Data>\n',
  returns: 'Data',
  member: (seed) => `{"a": [1, "two", {"b": null, "c": [[${seed}]]}], "d": true}`,
  keys: ['a', 'b'],
};

const ENUMS: Schema = {
  name: '10 enums and a literal set',
  definitions: Array.from(
    { length: 10 },
    (_, at) =>
      `enum E${at} {\n${['ALPHA', 'BETA', 'GAMMA', 'DELTA'].map((name) => `  ${name}_${at} @alias("${name.toLowerCase()} ${at}")\n`).join('')}}\n`,
  ).join(''),
  returns: `(${Array.from({ length: 10 }, (_, at) => `E${at}`).join(' | ')} | "left" | "right")[]`,
  member: (seed) => `"beta ${seed % 10}"`,
  keys: ['value'],
};

const WIDE: Schema = {
  name: 'class of 100 optional fields',
  definitions: `class Wide {\n${Array.from({ length: 100 }, (_, at) => `  field${at} (int | string | Wide)?\n`).join('')}}\n`,
  returns: 'Wide[]',
  member: (seed) => `{"field${seed % 100}": ${seed}, "field${(seed + 7) % 100}": {"field1": "x"}}`,
  keys: ['field0', 'field99'],
};

const CHAIN: Schema = {
  name: 'chain with a list',
  definitions: 'class Link {\n  next Link?\n  items (Link | int)[]\n  id int?\n}\n',
  returns: 'Link',
  member: (seed) => `{"next": {"next": {"next": null, "items": [${seed}]}}, "id": 1}`,
  keys: ['next', 'items'],
};

const CHECKED: Schema = {
  name: 'constraints at every level',
  definitions: `
class Part {
  name string @assert(named, {{ this|length > 0 }})
  parts Part[] @check(few, {{ this|length < 1000000 }})
  @@assert(kept, {{ this.name|length < 1000000 }})
}
`,
  returns: 'Part[]',
  member: (seed) => `{"name": "p${seed}", "parts": [{"name": "q", "parts": []}]}`,
  keys: ['name', 'parts'],
};

const STRICT: Schema = {
  name: '6 classes with required fields',
  definitions: `${Array.from({ length: 6 }, (_, at) => `class S${at} {\n  id${at} int\n  text string\n  parts Strict[]\n}\n`).join('')}type Strict = ${Array.from({ length: 6 }, (_, at) => `S${at}`).join(' | ')}\n`,
  returns: 'Strict[]',
  member: (seed) =>
    `{"id${seed % 6}": ${seed}, "text": "t", "parts": [{"id${(seed + 1) % 6}": 1, "text": "u", "parts": []}]}`,
  keys: ['id0', 'id1', 'text', 'parts'],
};

const TOOLS: Schema = {
  name: '60 tools',
  definitions: `${Array.from({ length: 60 }, (_, at) => `class Tool${at} {\n  tool "tool_${at}"\n  path string\n  limit${at % 5} int?\n  options map<string, string>?\n}\n`).join('')}type Call = ${Array.from({ length: 60 }, (_, at) => `Tool${at}`).join(' | ')}\n`,
  returns: 'Call[]',
  member: (seed) => `{"tool": "tool_${seed % 60}", "path": "src/file_${seed}.ts", "limit${seed % 5}": ${seed}}`,
  keys: ['tool', 'path'],
};

export const SCHEMAS: readonly Schema[] = [
  ...[2, 4, 6, 8, 12].map(blocks),
  ...[4, 12].map(spelledOut),
  DOCUMENT,
  JSON_ALIAS,
  STRICT,
  ...[4, 12].map(wrappers),
  CHAIN,
  ENUMS,
  WIDE,
  CHECKED,
  TOOLS,
];

/** Types with the most ways to read a value. */
export const COUNTED = [
  '6 all-optional classes',
  '12 all-optional classes',
  '4 classes, unions spelled out',
  'document of 4 classes',
  'JSON alias',
  '6 classes with required fields',
  '4 classes of one field',
];

export function schemaNamed(name: string): Schema {
  const schema = SCHEMAS.find((each) => each.name === name);
  if (schema === undefined) throw new Error(`no schema is named "${name}"`);
  return schema;
}

// --- replies -----------------------------------------------------------------------------------------------------------

/** Joins as many parts as fill the size. */
function fill(size: number, part: (index: number) => string, between = ','): string {
  const parts: string[] = [];
  for (let length = 0, index = 0; length < size; index += 1) {
    const next = part(index);
    parts.push(next);
    length += next.length + between.length;
  }
  return parts.join(between);
}

/** Puts a text in nested brackets. */
function nest(open: string, depth: number, inner: string, close: string): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}

function listOf(name: string, part: (schema: Schema, index: number) => string): Pattern {
  return { name, reply: (schema, size) => `[${fill(size, (index) => part(schema, index))}]` };
}

function key({ keys }: Schema, index: number): string {
  return keys[index % keys.length] ?? 'key';
}

/** Calls `part` for ever deeper members, as a balanced tree. */
function tree(depth: number, part: (members: string) => string): string {
  if (depth === 0) return part('');
  const member = tree(depth - 1, part);
  return part(`${member}, ${member}`);
}

export const PATTERNS: readonly Pattern[] = [
  listOf('valid values', (schema, index) => schema.member(index)),
  {
    name: 'valid, without commas',
    reply: (schema, size) => `[${fill(size, (index) => schema.member(index), '\n')}]`,
  },
  { name: 'values in prose', reply: (schema, size) => fill(size, (index) => `Next:\n${schema.member(index)}`, '\n') },
  {
    name: 'values in fences',
    reply: (schema, size) => fill(size, (index) => `\`\`\`json\n${schema.member(index)}\n\`\`\``, '\n'),
  },
  listOf('near misses', (schema, index) => schema.member(index).replaceAll('":', 'x":')),
  listOf('values of other types', (_, index) => ['{"x": 1}', '"a b"', '1.5', '[true]', 'null'][index % 5] ?? ''),
  listOf('empty objects', () => '{}'),
  listOf('empty lists', () => '[[]]'),
  listOf('small numbers', (_, index) => String(index % 10)),
  listOf('unknown keys', (_, index) => `{"k${index}": {"m": [${index}]}}`),
  {
    name: 'one object, unknown keys',
    reply: (_, size) => `{${fill(size, (index) => `"k${index}": {"m": ${index}}`)}}`,
  },
  listOf('known keys, wrong values', (schema, index) => `{"${key(schema, index)}": [[{"x": ${index}}]]}`),
  listOf('chains of known keys', (schema, index) => nest(`{"${key(schema, index)}": `, 50, '1', '}')),
  listOf('chains of unknown keys', () => nest('{"w": ', 50, '{}', '}')),
  listOf('chains of lists', () => nest('[', 50, '', ']')),
  {
    name: 'a deep chain around many',
    reply: (schema, size) =>
      `[${nest(
        `{"${key(schema, 3)}": [`,
        150,
        fill(size, (index) => schema.member(index)),
        ']}',
      )}]`,
  },
  {
    name: 'a deep unknown chain around many',
    reply: (schema, size) => nest('{"w": ', 300, `[${fill(size, (index) => schema.member(index))}]`, '}'),
  },
  {
    name: 'deep lists around many',
    reply: (_, size) =>
      nest(
        '[',
        300,
        fill(size, () => '[]'),
        ']',
      ),
  },
  listOf('trees of known keys', (schema, index) =>
    tree(6, (members) => `{"${key(schema, 3)}": [${members}], "a${index}": 1}`),
  ),
  listOf('trees of unknown keys', () => tree(6, (members) => `{"w": [${members}]}`)),
  listOf('trees of lists', () => tree(8, (members) => `[${members}]`)),
  listOf('JSON in strings', (schema, index) => JSON.stringify(schema.member(index))),
  listOf('JSON in strings in JSON', (schema, index) =>
    JSON.stringify(`{"${key(schema, 0)}": ${JSON.stringify(schema.member(index))}}`),
  ),
  { name: 'a long JSON string', reply: (schema, size) => JSON.stringify(`[${fill(size, (i) => schema.member(i))}]`) },
  { name: 'a long word', reply: (_, size) => `["${'a'.repeat(size)}"]` },
  { name: 'many labels', reply: (_, size) => `["${fill(size, (index) => `beta ${index % 7}`, ' ')}"]` },
  { name: 'many numbers in a string', reply: (_, size) => `["${fill(size, (index) => `1,${index}`, ' ')}"]` },
  { name: 'prose', reply: (_, size) => fill(size, (index) => `Sentence number ${index} is not the answer.`, ' ') },
];
