import { both, group, has, isComposite, valueTruth, type Damaged, type Draw } from '../kind.ts';
import * as phrases from '../phrases.ts';
import type { Random } from '../random.ts';
import type { Spot, Style } from '../write-tree.ts';
import { fenced } from './around.ts';

const hasText = both(isComposite, has('text'));

/** Strings that are not JSON strings, or that contain what a reader can take for an end. */
export const STRINGS = group('strings', {
  'unescaped quotes around a word': texts((random) => `The so-called "${phrases.word(random)}" was late`, raw),
  'unescaped quotes at the end': texts((random) => `He said "${phrases.word(random)}"`, raw),
  'unescaped quotes and a comma': texts(
    (random) => `Words like "${phrases.word(random)}", "${phrases.word(random)}" and others`,
    raw,
  ),
  inches: texts((random) => `A ${random.int(12, 34)}" ${phrases.productName(random)}`, raw),
  'comment after the closing quote': {
    fits: hasText,
    damage: (draw) => {
      const spot = draw.spot(({ tree, index }) => tree.kind === 'text' && index > 0);
      if (spot === undefined) return undefined;
      const note = draw.random.pick([
        '// as in the text',
        '# as in the text',
        '/* guessed */',
        '# not sure, "maybe"',
        '// see [1]',
      ]);
      const beforeComma = draw.random.chance(0.4);
      return draw.write({
        indent: 2,
        comma: (given) => {
          const comma = given.isLast ? '' : ',';
          if (given.index !== spot.index) return comma;
          return beforeComma ? ` ${note}\n    ${comma}` : `${comma} ${note}`;
        },
      });
    },
  },
  'note in parentheses after the closing quote': {
    fits: hasText,
    damage: (draw) => afterText(draw, draw.random.pick([' (approximate)', ' (see page 2)', ' (from the title)'])),
  },
  'brackets in a string': texts((random) => `Press {${phrases.word(random)}} or [${phrases.word(random)}] :-) }]`),
  'unbalanced bracket in a string': texts(
    (random) =>
      `${phrases.word(random)} ${random.pick(['{', '}', '[', ']', '{{', '}}', '}{'])} ${phrases.word(random)}`,
  ),
  'JSON in a string': texts((random) => JSON.stringify({ key: phrases.word(random), list: [1, 2] })),
  'fence in a string, in a fence': texts(
    (random) => `Run:\n\`\`\`sh\n${phrases.word(random)} --all\n\`\`\`\nand wait.`,
    undefined,
    (json) => fenced(json, 'json'),
  ),
  'comment signs in a string': texts((random) => `see ${phrases.url(random)} // not a comment, # neither /* this */`),
  'colons and commas in a string': texts(
    (random) => `first: ${phrases.word(random)}, second: "${phrases.word(random)}", third`,
  ),
  'raw line breaks': texts(phrases.poem, (text) => `"${text}"`),
  'raw tabs': texts(
    (random) => `${phrases.word(random)}\t${phrases.word(random)}\tend`,
    (text) => `"${text}"`,
  ),
  'line breaks escaped, in a fence': texts(phrases.poem, undefined, (json) => fenced(json, 'json')),
  'raw code in quotes': texts(
    (random) => `def f(x):\n    # comment\n    return x * ${random.int(2, 9)}`,
    (text) => `"${text}"`,
  ),
  'escaped apostrophe': texts(
    (random) => `It's the ${phrases.word(random)}'s turn`,
    (text) => `"${text.replaceAll("'", "\\'")}"`,
  ),
  'markdown escapes in keys': {
    fits: both(isComposite, has('class')),
    damage: (draw) => changedKeys(draw, (key) => JSON.stringify(key).replaceAll('_', String.raw`\_`)),
  },
  'Windows path without escapes': texts(
    (random) => `${String.raw`C:\Programs\Data`}\\${phrases.word(random).toUpperCase()}`,
    (text) => `"${text}"`,
  ),
  'regular expression without escapes': texts(
    (random) => String.raw`^\d{${random.int(2, 4)}}\s*\w+\.$`,
    (text) => `"${text}"`,
  ),
  'hexadecimal escapes': texts(
    (random) => `caf\u00E9 ${phrases.word(random)}`,
    (text) => `"${text.replaceAll('\u00E9', String.raw`\xe9`)}"`,
  ),
  'Unicode escapes': texts(phrases.unicode, (text) => `"${escaped(text)}"`),
  Unicode: texts(phrases.unicode),
  'smart quotes': { fits: isComposite, damage: (draw) => quotedWith(draw, '“', '”') },
  'smart closing quotes only': { fits: isComposite, damage: (draw) => quotedWith(draw, '”', '”') },
  'German quotes': { fits: isComposite, damage: (draw) => quotedWith(draw, '„', '“') },
  'smart quotes inside': texts((random) => `The “${phrases.word(random)}” and the ‘${phrases.word(random)}’`),
  backticks: {
    fits: hasText,
    damage: (draw) =>
      draw.write({ indent: 2, text: ({ text }) => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``) }),
  },
  'backticks around code': texts(
    (random) => `const a = { b: "${phrases.word(random)}" };\nreturn a;`,
    (text) => `\`${text}\``,
  ),
  'triple quotes': texts(
    (random) => `${phrases.sentence(random)}\nHe said "${phrases.word(random)}", then left.`,
    (text) => `"""${text}"""`,
  ),
  'triple quotes on their own lines': {
    ...texts(phrases.poem, (text) => `"""\n${text}\n"""`),
    clear: false,
  },
  'joined by plus': texts(
    (random) => `${phrases.sentence(random)} ${phrases.sentence(random)}`,
    (text, random) => parts(text, random).join(random.pick([' + ', ' +\n      '])),
  ),
  'apostrophe in single quotes': {
    ...texts(
      (random) => `It's the ${phrases.word(random)}'s turn`,
      (text) => `'${text}'`,
    ),
  },
  'closing quote missing at the end of the line': {
    fits: hasText,
    damage: (draw) => oneText(draw, ({ text }) => `"${text}`, isPlainMember),
  },
  'opening quote missing': {
    fits: hasText,
    damage: (draw) => oneText(draw, ({ text }) => `${text}"`, isPlainMember),
  },
  'closing quote missing in a list': {
    fits: hasText,
    damage: (draw) => {
      const spot = draw.spot(
        (given) =>
          given.parent === 'list' && !given.isLast && given.tree.kind === 'text' && /^[\w -]+$/u.test(given.tree.text),
      );
      return spot?.tree.kind === 'text' ? draw.replaceSpot(spot, `"${spot.tree.text}`) : undefined;
    },
  },
  'closing quote of a key missing': {
    fits: both(isComposite, has('class')),
    damage: (draw) => oneKey(draw, (key) => `"${key}`),
  },
  'opening quote of a key missing': {
    fits: both(isComposite, has('class')),
    damage: (draw) => oneKey(draw, (key) => `${key}"`),
  },
  'keys in double quotes, strings in single quotes': {
    fits: hasText,
    damage: (draw) =>
      draw.write({
        indent: 2,
        text: ({ text }) =>
          `'${JSON.stringify(text)
            .slice(1, -1)
            .replaceAll(String.raw`\"`, '"')
            .replaceAll("'", String.raw`\'`)}'`,
      }),
  },
  'template braces at the start of a string': texts((random) => {
    const name = phrases.word(random);
    return random.pick([`{{${name}}} there`, `{{${name}} there`, `{${name}}} there`, `{{ ${name} }}`]);
  }),
  'HTML in a string': texts(
    (random) => `<a href="https://example.com/${phrases.word(random)}">${phrases.word(random)}</a><br/>`,
    raw,
  ),
});

/** A member of an object whose text needs no escapes. */
function isPlainMember({ parent, tree }: Spot): boolean {
  return parent === 'object' && tree.kind === 'text' && JSON.stringify(tree.text) === `"${tree.text}"`;
}

/** The text between quotes, without any escape but that of line breaks. */
function raw(text: string): string {
  return `"${text.replaceAll('\n', String.raw`\n`)}"`;
}

function escaped(text: string): string {
  return [...Array(text.length).keys()]
    .map((at) => text.charCodeAt(at))
    .map((unit) => (unit < 128 ? String.fromCharCode(unit) : `\\u${unit.toString(16).padStart(4, '0')}`))
    .join('');
}

function parts(text: string, random: Random): readonly string[] {
  const words = text.split(' ');
  const end = random.int(1, words.length - 1);
  return [`${words.slice(0, end).join(' ')} `, words.slice(end).join(' ')].map((part) => JSON.stringify(part));
}

type Spell = (text: string, random: Random) => string;

/** Puts a text into one free string, and writes it in its own way; `around` takes the whole JSON text. */
function texts(
  make: (random: Random) => string,
  spell: Spell = (text) => JSON.stringify(text),
  around = (json: string): string => json,
): { fits: typeof hasText; damage: (draw: Draw) => Damaged } {
  return {
    fits: hasText,
    damage: (draw) => {
      let made: string | undefined;
      const changed = draw.withText((random) => (made = make(random)));
      if (changed === undefined) return undefined;
      const style: Style = {
        ...(draw.random.chance(0.7) && { indent: 2 }),
        text: ({ text }) => (text === made ? spell(text, draw.random) : JSON.stringify(text)),
      };
      return { reply: around(changed.write(style)), truth: valueTruth(changed.value) };
    },
  };
}

/** Writes one string in another way. */
function oneText(
  draw: Draw,
  spell: (tree: Extract<Spot['tree'], { kind: 'text' }>) => string,
  isWanted: (spot: Spot) => boolean = () => true,
): string | undefined {
  const spot = draw.spot((given) => given.tree.kind === 'text' && !given.tree.shared && isWanted(given));
  if (spot === undefined) return undefined;
  return draw.write({
    indent: 2,
    text: (tree, given) => (given.index === spot.index ? spell(tree) : JSON.stringify(tree.text)),
  });
}

function oneKey(draw: Draw, spell: (key: string) => string): string | undefined {
  const spot = draw.spot(({ member }) => member?.role === 'field');
  if (spot === undefined) return undefined;
  return draw.write({ indent: 2, key: (key, { index }) => (index === spot.index ? spell(key) : JSON.stringify(key)) });
}

function afterText(draw: Draw, note: string): string | undefined {
  return oneText(
    draw,
    ({ text }) => JSON.stringify(text) + note,
    (spot) => spot.parent !== 'none',
  );
}

function quotedWith(draw: Draw, open: string, close: string): string {
  const quote = (text: string): string => `${open}${JSON.stringify(text).slice(1, -1)}${close}`;
  return draw.write({ indent: 2, key: quote, text: ({ text }) => quote(text) });
}

function changedKeys(draw: Draw, change: (key: string) => string): string | undefined {
  const original = draw.write();
  const changed = draw.write({ indent: 2, key: change });
  return changed === original ? undefined : changed;
}
