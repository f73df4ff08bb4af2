import { fenced, group } from '../group.ts';
import {
  both,
  has,
  hasPart,
  isComposite,
  isList,
  isListOfObjects,
  isObject,
  type Draw,
  type Kind,
  type Way,
} from '../kind.ts';
import * as phrases from '../phrases.ts';
import { poem, word } from '../phrases.ts';
import type { Random } from '../random.ts';
import type { ReplyTree, ScalarTree } from '../reply-tree.ts';
import type { Shape } from '../shape.ts';
import type { Spot, Style } from '../write-tree.ts';

const hasText = both(isComposite, has('text'));
const hasFields = both(isComposite, has('class'));
const hasNulls = both(isComposite, has('optional'));
const hasNumbers: Kind['fits'] = (subject) => isComposite(subject) && (has('int')(subject) || has('float')(subject));
const hasLabels: Kind['fits'] = (subject) => isComposite(subject) && hasPart(subject.shape, isLabel);

function isLabel(shape: Shape): boolean {
  return shape.kind === 'enum' || (shape.kind === 'literal' && typeof shape.value === 'string');
}

// --- the ways to change a part ----------------------------------------------------------------------------------------

/** Writes the whole value in a style; undefined if that changes nothing. */
function inStyle(style: Style, around = (text: string): string => text): Way {
  return (draw) => {
    const text = draw.write(style);
    return text === draw.write({ ...(style.indent !== undefined && { indent: style.indent }) })
      ? undefined
      : around(text);
  };
}

/** Writes the value in a style that depends on one of the parts that a filter accepts. */
function atSpot(isWanted: (spot: Spot) => boolean, styleOf: (spot: Spot, random: Random) => Style): Way {
  return (draw) => {
    const spot = draw.spot(isWanted);
    return spot && draw.write({ indent: 2, ...styleOf(spot, draw.random) });
  };
}

/** Writes one part in another text; parts for which there is none are left alone. */
export function partAs(textOf: (spot: Spot, draw: Draw) => string | undefined): Way {
  return (draw) => {
    const spot = draw.spot((given) => textOf(given, draw) !== undefined);
    return spot && draw.replaceSpot(spot, textOf(spot, draw) ?? '', draw.random.chance(0.7) ? { indent: 2 } : {});
  };
}

/** One text for one part, and another for all others. */
function only(spot: Spot, text: string, otherwise: string): (given: Spot) => string {
  return ({ index }) => (index === spot.index ? text : otherwise);
}

function comma(text: string, style: Style = {}): Way {
  return atSpot(isInner, (spot) => ({
    ...style,
    comma: (given) => (given.index === spot.index ? text : usualComma(given)),
  }));
}

function usualComma({ isLast }: Spot): string {
  return isLast ? '' : ',';
}

const isInner = ({ isLast, index }: Spot): boolean => !isLast && index > 0;
const isMember = ({ member }: Spot): boolean => member !== undefined;
const isField = ({ member }: Spot): boolean => member?.role === 'field';
const isNullField = (spot: Spot): boolean => isField(spot) && isNull(spot.tree);
const isBelowRoot = ({ index }: Spot): boolean => index > 0;

function sizeOf(tree: ReplyTree): number {
  return tree.kind === 'list' ? tree.items.length : tree.kind === 'object' ? tree.members.length : 0;
}

/** Puts a text into one free string, and writes it in its own way; `around` takes the whole JSON text. */
function texts(
  make: (random: Random) => string,
  spell: (text: string, random: Random) => string = (text) => JSON.stringify(text),
  around = (json: string): string => json,
): Way {
  return (draw) => {
    let made: string | undefined;
    const changed = draw.withText((random) => (made = make(random)));
    if (changed === undefined) return undefined;
    const style: Style = {
      ...(draw.random.chance(0.7) && { indent: 2 }),
      text: ({ text }) => (text === made ? spell(text, draw.random) : JSON.stringify(text)),
    };
    return { reply: around(changed.write(style)), truth: { kind: 'value', value: changed.value } };
  };
}

/** Writes one string without a constraint in another way. */
function oneText(spell: (text: string) => string, isWanted: (spot: Spot) => boolean = () => true): Way {
  return partAs((spot) =>
    spot.tree.kind === 'text' && spot.parent !== 'none' && !spot.tree.shared && isWanted(spot)
      ? spell(spot.tree.text)
      : undefined,
  );
}

// --- strings ----------------------------------------------------------------------------------------------------------

/** The text between quotes, without any escape but that of line breaks. */
const raw = (text: string): string => `"${text.replaceAll('\n', String.raw`\n`)}"`;
const between =
  (open: string, close = open) =>
  (text: string): string =>
    open + text + close;
const unescaped = between('"');
const inner = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"');
const singleQuoted = (text: string): string => `'${inner(text).replaceAll("'", String.raw`\'`)}'`;
/** As `repr` writes a string: double quotes only around apostrophes. */
const pythonText = (text: string): string =>
  text.includes("'") && !text.includes('"') ? `"${inner(text)}"` : singleQuoted(text);

/** A member of an object whose text needs no escapes. */
function isPlainMember({ parent, tree }: Spot): boolean {
  return parent === 'object' && tree.kind === 'text' && JSON.stringify(tree.text) === `"${tree.text}"`;
}

/** Words and numbers, without other signs. */
function isPlainText({ tree }: Spot): boolean {
  return tree.kind === 'text' && /^[\p{L}\p{N} .-]+$/u.test(tree.text);
}

function quotedWith(open: string, close: string): Way {
  const quote = (text: string): string => `${open}${JSON.stringify(text).slice(1, -1)}${close}`;
  return inStyle({ indent: 2, key: quote, text: ({ text }) => quote(text) });
}

/** Strings that are not JSON strings, or that contain what a reader can take for an end. */
const STRINGS = group(
  'strings',
  {
    'unescaped quotes': [
      texts((random) => `The so-called "${word(random)}" was late`, raw),
      texts((random) => `He said "${word(random)}"`, raw),
      texts((random) => `Words like "${word(random)}", "${word(random)}" and others`, raw),
      texts((random) => `A ${random.int(12, 34)}" ${phrases.productName(random)}`, raw),
      texts((random) => `<a href="https://example.com/${word(random)}">${word(random)}</a><br/>`, raw),
    ],
    'brackets, code and comment signs in a string': [
      texts((random) => `Press {${word(random)}} or [${word(random)}] :-) }]`),
      texts((random) => `${word(random)} ${random.pick(['{', '}', '[', ']', '{{', '}}', '}{'])} ${word(random)}`),
      texts((random) => JSON.stringify({ key: word(random), list: [1, 2] })),
      texts(
        (random) => `Run:\n\`\`\`sh\n${word(random)} --all\n\`\`\`\nand wait.`,
        undefined,
        (json) => fenced(json, 'json'),
      ),
      texts((random) => `see ${phrases.url(random)} // not a comment, # neither /* this */`),
      texts((random) => `first: ${word(random)}, second: "${word(random)}", third`),
      texts((random) => `{{${word(random)}}} there`),
      texts((random) => `{${word(random)}}} there`),
      texts(phrases.unicode),
      texts((random) => `The “${word(random)}” and the ‘${word(random)}’`),
    ],
    'raw characters': [
      texts(poem, unescaped),
      texts((random) => `${word(random)}\t${word(random)}\tend`, unescaped),
      texts((random) => `def f(x):\n    # comment\n    return x * ${random.int(2, 9)}`, unescaped),
      texts((random) => `${String.raw`C:\Programs\Data`}\\${word(random).toUpperCase()}`, unescaped),
      texts((random) => String.raw`^\d{${random.int(2, 4)}}\s*\w+\.$`, unescaped),
    ],
    'other escapes': [
      texts(poem, undefined, (json) => fenced(json, 'json')),
      texts(
        (random) => `It's the ${word(random)}'s turn`,
        (text) => `"${text.replaceAll("'", "\\'")}"`,
      ),
      texts(
        (random) => `café ${word(random)}`,
        (text) => `"${text.replaceAll('é', String.raw`\xe9`)}"`,
      ),
      texts(
        phrases.unicode,
        (text) =>
          `"${text.replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`,
      ),
      inStyle({ indent: 2, key: (key) => JSON.stringify(key).replaceAll('_', String.raw`\_`) }),
    ],
    'typographic quotes': [quotedWith('“', '”'), quotedWith('”', '”'), quotedWith('„', '“')],
    'quotes of other languages': ['「」', '»«', '‹›'].map(([open = '', close = '']) =>
      oneText(between(open, close), isPlainText),
    ),
    'quotes of programs': [
      inStyle({ indent: 2, text: ({ text }) => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``) }),
      inStyle({ indent: 2, text: ({ text }) => singleQuoted(text) }),
      texts((random) => `const a = { b: "${word(random)}" };\nreturn a;`, between('`')),
      texts((random) => `${phrases.sentence(random)}\nHe said "${word(random)}", then left.`, between('"""')),
      texts((random) => `It's the ${word(random)}'s turn`, between("'")),
      texts(
        (random) => `${phrases.sentence(random)} ${phrases.sentence(random)}`,
        (text, random) => {
          const at = text.indexOf(' ', random.int(0, text.length - 12)) + 1;
          return `${JSON.stringify(text.slice(0, at))}${random.pick([' + ', ' +\n      '])}${JSON.stringify(text.slice(at))}`;
        },
      ),
    ],
    'a quote missing': [
      oneText((text) => `"${text}`, isPlainMember),
      oneText((text) => `${text}"`, isPlainMember),
      oneText(
        (text) => `"${text}`,
        ({ parent, isLast, tree }) =>
          parent === 'list' && !isLast && tree.kind === 'text' && /^[\w -]+$/u.test(tree.text),
      ),
    ],
    'a quote of a key missing': {
      fits: hasFields,
      ways: [(key: string) => `"${key}`, (key: string) => `${key}"`].map((spell) =>
        atSpot(isField, (spot) => ({
          key: (key, { index }) => (index === spot.index ? spell(key) : JSON.stringify(key)),
        })),
      ),
    },
    'note in parentheses after the closing quote': [' (approximate)', ' (see page 2)', ' (from the title)'].map(
      (note) => oneText((text) => JSON.stringify(text) + note),
    ),
  },
  hasText,
);

// --- keys and labels --------------------------------------------------------------------------------------------------

/** `invoice_number`, `lastName` and `first name` are two words each. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/gu, '$1 $2')
    .split(/[_\- ]+/u)
    .map((part) => part.toLowerCase());
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function camelCase(words: readonly string[]): string {
  return words.map((part, at) => (at === 0 ? part : capital(part))).join('');
}

/** Writes the keys of classes in another way; the keys of maps are data. */
function keys(spell: (key: string) => string): Way {
  return inStyle({
    indent: 2,
    key: (key, { member }) => (member?.role === 'field' ? spell(key) : JSON.stringify(key)),
  });
}

function keyWords(change: (words: readonly string[]) => string): Way {
  return keys((key) => JSON.stringify(change(wordsOf(key))));
}

/** Changes every enum value and literal, as values and, if wanted, as keys of maps. */
function labels(change: (text: string) => string, withKeys = true): Way {
  return inStyle({
    indent: 2,
    text: ({ role, text }) => JSON.stringify(role === 'label' ? change(text) : text),
    key: (key, { member }) => JSON.stringify(withKeys && member?.role === 'label' ? change(key) : key),
  });
}

const bareKey = (key: string): string => (/^[A-Za-z_]\w*$/u.test(key) ? key : JSON.stringify(key));

/** Keys and enum values in another spelling. */
const SPELLINGS = group(
  'keys and enum values',
  {
    'keys in another case': [
      keyWords(camelCase),
      keyWords((words) => words.map(capital).join('')),
      keyWords((words) => words.join('_')),
      keyWords((words) => words.join('-')),
      keyWords((words) => words.map(capital).join(' ')),
      keyWords((words) => words.join('_').toUpperCase()),
    ],
    'marks around keys': [
      keys((key) => JSON.stringify(` ${key} `)),
      keys((key) => `"**${key}**"`),
      keys((key) => `\`${key}\``),
      keys((key) => `- ${JSON.stringify(key)}`),
      keys(singleQuoted),
      atSpot(isField, (spot) => ({
        key: (key, { index }) => (index === spot.index ? `"${key}:"` : JSON.stringify(key)),
        colon: only(spot, ' ', ': '),
      })),
    ],
    'keys without quotes': [
      inStyle({ indent: 2, key: bareKey }),
      inStyle({ key: bareKey }),
      inStyle({ indent: 2, key: bareKey, comma: () => ',' }),
    ],
    'keys of several words without quotes': {
      fits: ({ name }) => ['Contact', 'Device'].includes(name),
      ways: [inStyle({ indent: 2, key: (key) => key })],
    },
    'keys in another order': [
      (draw) =>
        draw.tree.kind === 'object'
          ? draw.part({ ...draw.tree, members: draw.random.shuffle(draw.tree.members) }, { indent: 2 })
          : undefined,
    ],
    'extra, double and absent keys': [
      ...[
        '"notes": "none of this is certain"',
        '"confidence_level": 0.9',
        '"id_": 17',
        '"metadata": {"source": "text", "page": 3}',
      ].map((extra) => atSpot(isField, (spot) => ({ before: only(spot, `${extra}, `, '') }))),
      (draw) => {
        const spot = draw.spot((given) => isField(given) && sizeOf(given.tree) === 0);
        if (spot?.member === undefined) return undefined;
        return draw.write({
          indent: 2,
          before: only(spot, `${JSON.stringify(spot.member.key)}: ${draw.part(spot.tree)}, `, ''),
        });
      },
      (draw) => {
        const keepsOne = draw.spot((spot) => isField(spot) && !isNullField(spot)) !== undefined;
        return keepsOne ? inStyle({ indent: 2, omit: isNullField })(draw) : undefined;
      },
    ],
    'labels in another case': {
      fits: hasLabels,
      ways: [
        labels((text) => text.toLowerCase()),
        labels((text) => text.toUpperCase()),
        labels((text) => text.replaceAll('_', ' ').toLowerCase()),
        labels((text) => text.replaceAll(/[_ ]/gu, '-').toLowerCase()),
        labels((text) => wordsOf(text).map(capital).join(' ')),
        labels((text) => camelCase(wordsOf(text))),
      ],
    },
    'marks around labels': {
      fits: hasLabels,
      ways: [
        labels((text) => ` ${text}.`),
        labels((text) => text.replaceAll('_', String.raw`\_`)),
        labels(between('**')),
        labels(between("'")),
        ...['✅', '🔴', '⭐'].map((sign) => labels((text) => `${sign} ${text}`, false)),
        ...[' - as the text says', ' (from the second line)', ': see above'].map((reason) =>
          labels((text) => text + reason, false),
        ),
        inStyle({ indent: 2, text: ({ role, text }) => (role === 'label' ? text : JSON.stringify(text)) }),
      ],
    },
  },
  hasFields,
);

// --- punctuation and comments -----------------------------------------------------------------------------------------

const isBracket = ({ tree, index }: Spot): boolean => index > 0 && sizeOf(tree) > 0;
const usualClose = ({ tree }: Spot): string => (tree.kind === 'list' ? ']' : '}');

/** Commas, colons and brackets that are missing, doubled or mismatched. */
const PUNCTUATION = group('commas, colons and brackets', {
  'a comma missing': [
    comma(''),
    (draw) => draw.spot(isInner) && draw.write({ comma: (given) => usualComma(given) }).replace(/,(?= ")/u, ''),
    inStyle({ indent: 2, comma: () => '' }),
  ],
  'a comma missing between objects': {
    fits: isListOfObjects,
    ways: [
      atSpot(
        (spot) => isInner(spot) && spot.depth === 1 && spot.tree.kind === 'object',
        (spot) => ({ comma: (given) => (given.index === spot.index ? '' : usualComma(given)) }),
      ),
    ],
  },
  'commas in other places': [
    comma(',,'),
    atSpot(
      ({ index }) => index === 1,
      (spot) => ({ before: only(spot, ', ', '') }),
    ),
    inStyle({ indent: 2, comma: ({ isLast }) => (isLast ? '' : '\n  ,') }),
    inStyle({ indent: 2, comma: () => ',' }),
    '<<json>>,',
    '<<json>>;',
    inStyle({ indent: 2, comma: ({ isLast }) => (isLast ? '' : ';') }),
  ],
  'empty members between commas': { fits: isList, ways: [comma(', ,')] },
  'other signs for colons': [
    ...[' ', ':: ', ' := '].map((colon) => atSpot(isMember, (spot) => ({ colon: only(spot, colon, ': ') }))),
    ...[' = ', ' => '].map((colon) => inStyle({ indent: 2, colon: () => colon })),
  ],
  'full-width signs': ['[]', '［］'].map(([open = '', close = '']) =>
    inStyle({
      indent: 2,
      colon: () => '：',
      comma: ({ isLast }) => (isLast ? '' : '，'),
      open: ({ tree }) => (tree.kind === 'list' ? open : open === '[' ? '{' : '｛'),
      close: ({ tree }) => (tree.kind === 'list' ? close : close === ']' ? '}' : '｝'),
    }),
  ),
  'last brackets missing': [
    (draw) => {
      const text = draw.write(draw.random.pick([{}, { indent: 2 }]));
      const end = /[\s}\]]+$/u.exec(text)?.index ?? text.length;
      const closing = text.slice(end).replaceAll(/\s/gu, '');
      return text.slice(0, end) + closing.slice(0, draw.random.int(0, closing.length - 1));
    },
    (draw) => `Here is the JSON:\n\n${fenced(draw.write().replace(/\s*[}\]]$/u, ''), 'json')}\n\nI hope this helps.`,
  ],
  'first bracket missing': {
    fits: (subject) => isObject(subject) || isList(subject),
    ways: [
      (draw) => draw.json().slice(1),
      (draw) => `${draw.write().slice(1)}\n\nI hope this helps.`,
      (draw) => (draw.tree.kind === 'object' ? draw.write().replace(/^\{\s*"/u, '') : undefined),
      (draw) =>
        draw.tree.kind === 'object'
          ? draw.write().split('\n').slice(1, -1).join('\n').replaceAll(/^ {2}/gmu, '')
          : undefined,
    ],
  },
  'a list that a key closes': {
    fits: both(isComposite, has('list'), has('class')),
    ways: [
      atSpot(
        ({ tree, parent, isLast }) =>
          tree.kind === 'list' && parent === 'object' && !isLast && tree.items.every(({ kind }) => kind !== 'list'),
        (spot) => ({ close: (given) => (given.index === spot.index ? '' : usualClose(given)) }),
      ),
    ],
  },
  'brackets doubled': [
    (draw) => `${draw.write()}${draw.write().slice(-1)}`,
    (draw) => (draw.tree.kind === 'object' ? `{\n${draw.write()}` : undefined),
    (draw) => (draw.tree.kind === 'object' ? `{${draw.write()}}` : undefined),
    inStyle({
      indent: 2,
      open: ({ tree }) => (tree.kind === 'object' ? '{{' : '['),
      close: ({ tree }) => (tree.kind === 'object' ? '}}' : ']'),
    }),
  ],
  'brackets mismatched': [
    (draw) => draw.write().slice(0, -1) + (draw.write().endsWith('}') ? ']' : '}'),
    atSpot(isBracket, (spot) => ({
      close: (given) => ((given.tree.kind === 'list') === (given.index === spot.index) ? '}' : ']'),
    })),
    (draw) => {
      const text = draw.write({});
      const [end = ''] = /[}\]]+$/u.exec(text) ?? [];
      return new Set(end).size < 2 ? undefined : text.slice(0, -end.length) + [...end].toReversed().join('');
    },
    '(<<json>>)',
  ],
  'parentheses for braces': { fits: isObject, clear: false, ways: [(draw) => `(${draw.write().slice(1, -1)})`] },
});

function lineEnd(comment: string): Way {
  return atSpot(
    ({ index, tree }) => index > 0 && (tree.kind === 'text' || tree.kind === 'scalar'),
    (spot) => ({ after: only(spot, comment, '') }),
  );
}

function ownLine(comment: string): Way {
  return atSpot(isBelowRoot, (spot) => ({ before: only(spot, `${comment}\n  `, '') }));
}

/** Comments and ellipses inside the value. */
const COMMENTS = group('comments and ellipses', {
  'comment at a line end': [
    ' // from the first paragraph',
    ' // see https://example.com/a',
    ' # 2 of 3',
    ' # see {below}',
    ' /* from the text */',
  ].map(lineEnd),
  'comment with brackets and quotes': [
    ' // {"not": "this"}',
    ' // the so-called "best" one\'s',
    ' // }, ]',
    " # it's [unsure]",
    ' # "quoted", maybe',
    ' /* { "x": [ */',
  ].map(lineEnd),
  'comment on its own line': [
    '// the main part',
    '# the main part',
    '/* the main part */',
    '// "key": "value",',
    '/*\n   * The main part:\n   * { "key": [1, 2] }\n   */',
  ].map(ownLine),
  'comment around the value': [
    '// the result of the extraction\n<<block>>',
    '<<block>> // end of the result {done}',
    (draw) => draw.write().replace(/^[{[]/u, (bracket) => `${bracket} // start`),
  ],
  'comment inside a line': [atSpot(isBelowRoot, (spot) => ({ before: only(spot, '/* here */ ', '') }))],
  'comment after a comma or before it': {
    fits: hasText,
    ways: ['// as in the text', '/* guessed */', '# not sure, "maybe"'].flatMap((note) => [
      atSpot(isInner, (spot) => ({
        comma: (given) => (given.index === spot.index ? ` ${note}\n    ,` : usualComma(given)),
      })),
    ]),
  },
  'comment between key and value': {
    fits: hasFields,
    ways: [atSpot(isMember, (spot) => ({ colon: only(spot, ': /* from the text */ ', ': ') }))],
  },
  'ellipsis after the last member of an object': {
    fits: hasFields,
    ways: [
      atSpot(
        ({ tree }) => tree.kind === 'object' && tree.role === 'class' && tree.members.length > 0,
        (spot) => ({ close: (given) => (given.index === spot.index ? '...}' : usualClose(given)) }),
      ),
    ],
  },
  'ellipsis at the end of a list': {
    fits: isList,
    clear: false,
    ways: ['...', '// ... more items'].map((rest) => (draw) => draw.write().replace(/\n\]$/u, `,\n  ${rest}\n]`)),
  },
});

// --- dialects and numbers ---------------------------------------------------------------------------------------------

function python({ value }: ScalarTree): string {
  if (value === null) return 'None';
  return typeof value === 'boolean' ? capital(String(value)) : String(value);
}

/** Texts with a sign of JSON keep their quotes: without them, their end would be a guess. */
function bareText(text: string): string {
  return /^[\p{L}][\p{L}\d _.-]*$/u.test(text) && !/^(?:true|false|null|none|yes|no)$/iu.test(text)
    ? text
    : JSON.stringify(text);
}

function isNull(tree: ReplyTree): boolean {
  return tree.kind === 'scalar' && tree.value === null;
}

function nulls(spelled: string, isWanted: (tree: ScalarTree) => boolean = () => true): Way {
  return inStyle({ indent: 2, scalar: (tree) => (isNull(tree) && isWanted(tree) ? spelled : String(tree.value)) });
}

function booleans(spell: (value: boolean) => string): Way {
  return inStyle({ indent: 2, scalar: ({ value }) => (typeof value === 'boolean' ? spell(value) : String(value)) });
}

const REPR: Style = { scalar: python, key: pythonText, text: ({ text }) => pythonText(text) };
const BARE_TEXTS: Style = { indent: 2, text: ({ text, shared }) => (shared ? JSON.stringify(text) : bareText(text)) };

/** Literals of Python and JavaScript. */
const DIALECTS = group('Python and JavaScript', {
  Python: [
    inStyle({ indent: 2, scalar: python }),
    inStyle(REPR),
    inStyle({ ...REPR, indent: 4 }, (text) => fenced(text, 'python')),
    (draw) => fenced(`result = ${draw.write({ indent: 4, scalar: python })}`, 'python'),
    (draw) => fenced(`print(${draw.write({ scalar: python })})`, 'python'),
    inStyle(
      { ...REPR, indent: 2, comma: () => ',', after: ({ index }) => (index === 2 ? ' # from the text' : '') },
      (text) => fenced(text, 'python'),
    ),
  ],
  JavaScript: [
    ...['js', 'javascript', 'typescript'].map(
      (tag): Way =>
        (draw) =>
          fenced(`const result = ${draw.write({ indent: 2, key: bareKey })};`, tag),
    ),
    (draw) => fenced(`export default ${draw.write({ indent: 2, key: bareKey })};`, 'js'),
    'return <<block>>;',
    inStyle({ indent: 2, key: singleQuoted, text: ({ text }) => singleQuoted(text) }),
    inStyle(
      { indent: 2, key: bareKey, comma: () => ',', after: ({ index }) => (index === 1 ? ' // first' : '') },
      (text) => `The result:\n${text}\nDoes this help?`,
    ),
  ],
  'strings without quotes': { fits: hasText, ways: [inStyle(BARE_TEXTS), inStyle({ ...BARE_TEXTS, key: bareKey })] },
  'other words for null': {
    fits: hasNulls,
    ways: [
      ...['None', 'NONE', 'NULL', 'Null', 'nil', 'undefined', ''].map((term) => nulls(term)),
      ...['"N/A"', '"none"', '"null"', '"-"', '"unknown"', '"not specified"'].map((term) =>
        nulls(term, (tree) => !tree.shared),
      ),
    ],
  },
  'NaN for null': { fits: hasNulls, clear: false, ways: [nulls('NaN')] },
  'nothing for an empty list': {
    fits: both(isComposite, has('list')),
    ways: ['null', '""', '"none"'].map((term) =>
      partAs((spot) => (isField(spot) && spot.tree.kind === 'list' && spot.tree.items.length === 0 ? term : undefined)),
    ),
  },
  'other words for booleans': {
    fits: both(isComposite, has('bool')),
    ways: [
      booleans((value) => String(value).toUpperCase()),
      booleans((value) => `"${value}"`),
      booleans((value) => (value ? '"yes"' : '"no"')),
      booleans((value) => (value ? '1' : '0')),
    ],
  },
  'tuple for a list': { fits: isList, ways: [(draw) => `(${draw.write({ scalar: python }).slice(1, -1)})`] },
  'set for a list': { fits: isList, clear: false, ways: [(draw) => `{${draw.write({}).slice(1, -1)}}`] },
});

/** Writes one number in another way; numbers that can also be strings by their type are left alone. */
function number(spell: (value: number, tree: ScalarTree) => string | undefined): Way {
  return partAs(({ tree, index }) =>
    index > 0 && tree.kind === 'scalar' && typeof tree.value === 'number' && !tree.shared
      ? spell(tree.value, tree)
      : undefined,
  );
}

const positive = (spell: (value: number) => string): Way => number((value) => (value > 0 ? spell(value) : undefined));
const whole = (spell: (value: number) => string): Way =>
  number((value) => (Number.isInteger(value) ? spell(value) : undefined));

function thousands(separator: string, quote = ''): Way {
  return number((value) =>
    Math.abs(value) < 1000 ? undefined : quote + value.toLocaleString('en-US').replaceAll(',', separator) + quote,
  );
}

/** Numbers in another spelling, inside of JSON. */
const NUMBERS = group(
  'numbers',
  {
    'signs, points and zeros': [
      positive((value) => `+${value}`),
      positive((value) => `00${value}`),
      number((value) => (value > 0 && value < 1 ? String(value).slice(1) : undefined)),
      whole((value) => `${value}.`),
      number((value) => (Number.isInteger(value) ? `${value}.0` : `${value}00`)),
      number((value) => (value < 0 ? `−${-value}` : undefined)),
      number((value) => (Number.isInteger(value) ? undefined : `"${String(value).replace('.', ',')}"`)),
    ],
    'separators and exponents': [
      ...['_', ',', ' ', "'"].map((separator) => thousands(separator)),
      thousands(',', '"'),
      number((value, { role }) => (value > 0 && role === 'float' ? `${value / 10}e1` : undefined)),
      whole((value) => `${value / 10}e1`),
    ],
    'quotes and marks': [
      number((value) => `"${value}"`),
      number((value) => `"**${value}**"`),
      number((value) => `"__${value}__"`),
      number((value) => `**${value}**`),
      number((value) => `[${value}]`),
      number((value, { role }) => `${role}(${value})`),
    ],
    'currencies and units': [
      ...['$', '€', '"$', '"£', '"USD '].map((sign) =>
        positive((value) => sign + value + (sign.startsWith('"') ? '"' : '')),
      ),
      ...[' €', ' kg', ' meters', ' years', 'kg', 'cm'].flatMap((unit) => [
        positive((value) => value + unit),
        positive((value) => `"${value}${unit}"`),
      ]),
    ],
    approximations: [
      positive((value) => `~${value}`),
      ...['about', 'approx.', 'approximately'].map((term) => number((value) => `"${term} ${value}"`)),
      number((value) => (Number.isInteger(value) && value > 3 && value < 21 ? `"${value}th"` : undefined)),
    ],
    'percent signs and fractions': {
      fits: hasNumbers,
      clear: false,
      ways: [
        positive((value) => `${value}%`),
        number((value, { role }) => (role === 'float' ? `"${value * 100}/100"` : undefined)),
      ],
    },
  },
  hasNumbers,
);

export const JSON_TEXT: readonly Kind[] = [
  ...STRINGS,
  ...SPELLINGS,
  ...PUNCTUATION,
  ...COMMENTS,
  ...DIALECTS,
  ...NUMBERS,
];
