import type { JsonValue } from '../../../src/base/json.ts';
import { group, isListOf, isMap, isObject, type Draw, type Kind } from '../kind.ts';
import type { ObjectTree, ReplyTree } from '../reply-tree.ts';

const isNested: Kind['fits'] = (subject) => isObject(subject);

/** Objects as keys with values in other notations. Values with nulls and labels are left out where their spelling would be a guess. */
export const RECORDS = group('keys and records', {
  'paths as keys': { fits: isNested, damage: (draw) => flattened(draw, (path) => path.join('.')) },
  'paths with brackets as keys': { fits: isNested, damage: (draw) => flattened(draw, bracketed) },
  'JSON Pointers as keys': { fits: isNested, damage: (draw) => flattened(draw, (path) => `/${path.join('/')}`) },
  'a sign before each key': {
    fits: isNested,
    damage: (draw) => {
      const sign = draw.random.pick(['$', '@', '--', ':']);
      return draw.write({ indent: 2, key: (key) => JSON.stringify(sign + key) });
    },
  },
  'fields and values in a list': {
    fits: isNested,
    damage: (draw) => entries(draw, (key, value) => `{"field": ${key}, "value": ${value}}`),
  },
  'fields in groups': {
    fits: isNested,
    damage: (draw) => {
      const members = draw.tree.kind === 'object' ? draw.tree.members : [];
      if (members.length < 3) return undefined;
      const texts = members.map(({ key, value }) => `${JSON.stringify(key)}: ${draw.part(value)}`);
      const half = Math.ceil(texts.length / 2);
      return `{"general": {${texts.slice(0, half).join(', ')}}, "more_info": {${texts.slice(half).join(', ')}}}`;
    },
  },
  'a name around a map': {
    fits: isMap,
    damage: (draw) => `{"${draw.random.pick(['mapping', 'entries_by_name', 'lookup'])}": ${draw.write({ indent: 2 })}}`,
  },
  'pairs in a list': { fits: isNested, damage: (draw) => entries(draw, (key, value) => `[${key}, ${value}]`) },
  'an object for each member': {
    fits: isNested,
    damage: (draw) => entries(draw, (key, value) => `{${key}: ${value}}`),
  },
  'pairs on one line': {
    fits: isNested,
    damage: (draw) => {
      const mark = draw.random.pick(['; ', ' | ', ' · ']);
      return line(draw, (key, value) => `${key}: ${value}`, mark);
    },
  },
  'a query string': {
    fits: isNested,
    damage: (draw) => line(draw, (key, value) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`, '&'),
  },
  'a table in JSON': {
    fits: isListOf((item) => isObject({ name: '', shape: item })),
    damage: (draw) => tableOf(draw),
  },
  'a tool call around the object': {
    fits: isNested,
    damage: (draw) => `{"name": "save_result", "arguments": ${draw.write({})}}`,
  },
});

function objectIn({ tree }: Draw): ObjectTree | undefined {
  return tree.kind === 'object' && tree.role === 'class' && tree.members.length > 1 ? tree : undefined;
}

function bracketed(path: readonly string[]): string {
  return path.map((step, at) => (/^\d+$/u.test(step) ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}

/** Writes the scalars of an object under their paths; undefined if a list is empty, or if a key contains a mark of paths. */
function flattened(draw: Draw, keyOf: (path: readonly string[]) => string): string | undefined {
  const object = objectIn(draw);
  const members = object === undefined ? undefined : membersIn(object, []);
  if (members === undefined || members.every(([path]) => path.length === 1)) return undefined;
  const isPlain = members.every(([path]) => path.every((step) => /^\w+$/u.test(step)));
  if (!isPlain) return undefined;
  return `{\n${members.map(([path, value]) => `  ${JSON.stringify(keyOf(path))}: ${JSON.stringify(value)}`).join(',\n')}\n}`;
}

type Member = readonly [path: readonly string[], value: JsonValue];

function membersIn(tree: ReplyTree, path: readonly string[]): readonly Member[] | undefined {
  if (tree.kind === 'text') return [[path, tree.text]];
  if (tree.kind === 'scalar') return [[path, tree.value]];
  const parts =
    tree.kind === 'list'
      ? tree.items.map((item, at) => membersIn(item, [...path, String(at)]))
      : tree.members.map(({ key, value }) => membersIn(value, [...path, key]));
  if (parts.length === 0 || parts.some((part) => part === undefined)) return undefined;
  return parts.flatMap((part) => part ?? []);
}

function entries(draw: Draw, entry: (key: string, value: string) => string): string | undefined {
  const object = objectIn(draw);
  return (
    object && `[${object.members.map(({ key, value }) => entry(JSON.stringify(key), draw.part(value))).join(', ')}]`
  );
}

/** Writes an object of scalars on one line; undefined for other objects, and if a string contains a mark. */
function line(draw: Draw, pair: (key: string, value: string) => string, mark: string): string | undefined {
  const pairs = objectIn(draw)?.members.map(({ key, value }) => {
    const text = textOf(value);
    return text === undefined || !/^[\w-]+$/u.test(key) ? undefined : pair(key, text);
  });
  return pairs === undefined || pairs.includes(undefined) ? undefined : pairs.join(mark);
}

function textOf(tree: ReplyTree): string | undefined {
  if (tree.kind === 'scalar') return tree.value === null ? undefined : String(tree.value);
  return tree.kind === 'text' && /^[\p{L}\p{N}][\p{L}\p{N} @+-]*[\p{L}\p{N}]$/u.test(tree.text) ? tree.text : undefined;
}

function tableOf(draw: Draw): string | undefined {
  const { tree } = draw;
  const rows = tree.kind === 'list' ? tree.items : [];
  const [first] = rows;
  if (first?.kind !== 'object' || rows.length < 2) return undefined;
  const keys = first.members.map(({ key }) => JSON.stringify(key)).join(', ');
  const haveSame = rows.every(
    (row) => row.kind === 'object' && row.members.map(({ key }) => JSON.stringify(key)).join(', ') === keys,
  );
  if (!haveSame) return undefined;
  const lines = rows.map((row) =>
    row.kind === 'object' ? row.members.map(({ value }) => draw.part(value)).join(', ') : '',
  );
  return `[[${keys}],\n${lines.map((each) => `[${each}]`).join(',\n')}]`;
}
