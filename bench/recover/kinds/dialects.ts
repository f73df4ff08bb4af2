import { both, group, has, isComposite, isList, isObject, type Draw } from '../kind.ts';
import type { ReplyTree, ScalarTree } from '../reply-tree.ts';
import { fenced } from './around.ts';

/** Literals of Python and JavaScript. */
export const DIALECTS = group('Python and JavaScript', {
  'Python literals': (draw) => changed(draw, draw.write({ indent: 2, scalar: python })),
  'Python repr': (draw) => draw.write({ scalar: python, key: pythonText, text: ({ text }) => pythonText(text) }),
  'Python repr in a fence': (draw) =>
    fenced(draw.write({ indent: 4, scalar: python, key: pythonText, text: ({ text }) => pythonText(text) }), 'python'),
  'assignment in Python': (draw) => fenced(`result = ${draw.write({ indent: 4, scalar: python })}`, 'python'),
  'print in Python': (draw) => fenced(`print(${draw.write({ scalar: python })})`, 'python'),
  'assignment in JavaScript': (draw) =>
    fenced(
      `const result = ${draw.write({ indent: 2, key: bareKey })};`,
      draw.random.pick(['js', 'javascript', 'typescript']),
    ),
  'export in JavaScript': (draw) => fenced(`export default ${draw.write({ indent: 2, key: bareKey })};`, 'js'),
  'return in JavaScript': (draw) => `return ${draw.write()};`,
  'JSON.parse of a string': {
    clear: false,
    damage: (draw) => `JSON.parse('${draw.write({})}')`,
  },
  'single quotes': (draw) => draw.write({ indent: 2, key: singleQuoted, text: ({ text }) => singleQuoted(text) }),
  'keys without quotes': {
    fits: both(isComposite, has('class')),
    damage: (draw) => draw.write({ indent: 2, key: bareKey }),
  },
  'keys without quotes on one line': {
    fits: both(isComposite, has('class')),
    damage: (draw) => draw.write({ key: bareKey }),
  },
  'keys in single quotes': {
    fits: both(isComposite, has('class')),
    damage: (draw) => draw.write({ indent: 2, key: singleQuoted }),
  },
  'strings without quotes': {
    fits: both(isComposite, has('text')),
    damage: (draw) =>
      changed(
        draw,
        draw.write({ indent: 2, text: ({ text, shared }) => (shared ? JSON.stringify(text) : bareText(text)) }),
      ),
  },
  'keys and strings without quotes': {
    fits: both(isObject, has('text')),
    damage: (draw) =>
      draw.write({
        indent: 2,
        key: bareKey,
        text: ({ text, shared }) => (shared ? JSON.stringify(text) : bareText(text)),
      }),
  },
  'commas after last members and no quotes around keys': (draw) =>
    draw.write({ indent: 2, key: bareKey, comma: () => ',' }),
  'several at once': (draw) =>
    fenced(
      draw.write({
        indent: 2,
        scalar: python,
        key: pythonText,
        text: ({ text }) => pythonText(text),
        comma: () => ',',
        after: ({ index }) => (index === 2 ? ' # from the text' : ''),
      }),
      'python',
    ),
  'several at once, in prose': (draw) =>
    `The result:\n${draw.write({ indent: 2, key: bareKey, comma: () => ',', after: ({ index }) => (index === 1 ? ' // first' : '') })}\nDoes this help?`,
  'keys of several words without quotes': {
    fits: (subject) => ['Contact', 'Device'].includes(subject.name),
    damage: (draw) => draw.write({ indent: 2, key: (key) => key }),
  },
  'null for an empty list': {
    fits: both(isComposite, has('list')),
    damage: (draw) => {
      const spot = draw.spot(
        ({ tree, member }) => member?.role === 'field' && tree.kind === 'list' && tree.items.length === 0,
      );
      return spot === undefined ? undefined : draw.replaceSpot(spot, draw.random.pick(['null', '""', '"none"']));
    },
  },
  'None for null': { fits: both(isComposite, has('optional')), damage: (draw) => nulls(draw, ['None', 'NONE']) },
  'NULL, Null or nil for null': {
    fits: both(isComposite, has('optional')),
    damage: (draw) => nulls(draw, ['NULL', 'Null', 'nil']),
  },
  'undefined for null': { fits: both(isComposite, has('optional')), damage: (draw) => nulls(draw, ['undefined']) },
  'NaN for null': {
    fits: both(isComposite, has('optional')),
    clear: false,
    damage: (draw) => nulls(draw, ['NaN']),
  },
  'nothing after the colon for null': { fits: both(isComposite, has('optional')), damage: (draw) => nulls(draw, ['']) },
  'words for nothing as strings': {
    fits: both(isComposite, has('optional')),
    damage: (draw) => nulls(draw, WORDS_FOR_NOTHING, (tree) => !tree.shared),
  },
  'booleans in capitals': {
    fits: both(isComposite, has('bool')),
    damage: (draw) => booleans(draw, (value) => String(value).toUpperCase()),
  },
  'booleans as strings': {
    fits: both(isComposite, has('bool')),
    damage: (draw) => booleans(draw, (value) => JSON.stringify(String(value))),
  },
  'booleans as yes and no': {
    fits: both(isComposite, has('bool')),
    damage: (draw) => booleans(draw, (value) => (value ? '"yes"' : '"no"')),
  },
  'booleans as 1 and 0': {
    fits: both(isComposite, has('bool')),
    damage: (draw) => booleans(draw, (value) => (value ? '1' : '0')),
  },
  'tuple for a list': { fits: isList, damage: (draw) => `(${draw.write({ scalar: python }).slice(1, -1)})` },
  'set for a list': {
    fits: isList,
    clear: false,
    damage: (draw) => `{${draw.write({}).slice(1, -1)}}`,
  },
});

const WORDS_FOR_NOTHING = ['"N/A"', '"none"', '"null"', '"-"', '"unknown"', '"not specified"'];

function python({ value }: ScalarTree): string {
  if (value === null) return 'None';
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value);
}

/** As `repr` writes a string: double quotes only around apostrophes. */
function pythonText(text: string): string {
  const inner = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"');
  return text.includes("'") && !text.includes('"') ? `"${inner}"` : `'${inner.replaceAll("'", String.raw`\'`)}'`;
}

function singleQuoted(text: string): string {
  return `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`;
}

function bareKey(key: string): string {
  return /^[A-Za-z_]\w*$/u.test(key) ? key : JSON.stringify(key);
}

/** Texts with a sign of JSON keep their quotes: without them, their end would be a guess. */
function bareText(text: string): string {
  return /^[\p{L}][\p{L}\d _.-]*$/u.test(text) && !/^(?:true|false|null|none|yes|no)$/iu.test(text)
    ? text
    : JSON.stringify(text);
}

function changed(draw: Draw, text: string): string | undefined {
  return text === draw.write({ indent: 2 }) ? undefined : text;
}

function nulls(
  draw: Draw,
  words: readonly string[],
  isWanted: (tree: ScalarTree) => boolean = () => true,
): string | undefined {
  const word = draw.random.pick(words);
  const isNull = (tree: ReplyTree): boolean => tree.kind === 'scalar' && tree.value === null && isWanted(tree);
  return changed(draw, draw.write({ indent: 2, scalar: (tree) => (isNull(tree) ? word : String(tree.value)) }));
}

function booleans(draw: Draw, spell: (value: boolean) => string): string | undefined {
  return changed(
    draw,
    draw.write({ indent: 2, scalar: ({ value }) => (typeof value === 'boolean' ? spell(value) : String(value)) }),
  );
}
