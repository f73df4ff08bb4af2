import { both, group, has, hasPart, isComposite, type Draw, type Kind } from '../kind.ts';
import type { Shape } from '../shape.ts';
import type { Spot } from '../write-tree.ts';

const hasFields = both(isComposite, has('class'));
const hasLabels: Kind['fits'] = (subject) => isComposite(subject) && hasPart(subject.shape, isLabel);

function isLabel(shape: Shape): boolean {
  return shape.kind === 'enum' || (shape.kind === 'literal' && typeof shape.value === 'string');
}

/** Keys and enum values in another spelling. */
export const SPELLINGS = group('keys and enum values', {
  'keys in camelCase': { fits: hasFields, damage: (draw) => keys(draw, (words) => camelCase(words)) },
  'keys in PascalCase': { fits: hasFields, damage: (draw) => keys(draw, (words) => words.map(capital).join('')) },
  'keys in snake_case': { fits: hasFields, damage: (draw) => keys(draw, (words) => words.join('_')) },
  'keys in kebab-case': { fits: hasFields, damage: (draw) => keys(draw, (words) => words.join('-')) },
  'keys in Title Case': { fits: hasFields, damage: (draw) => keys(draw, (words) => words.map(capital).join(' ')) },
  'keys in upper case': { fits: hasFields, damage: (draw) => keys(draw, (words) => words.join('_').toUpperCase()) },
  'space around keys': { fits: hasFields, damage: (draw) => fieldKeys(draw, (key) => JSON.stringify(` ${key} `)) },
  'colon in the quotes of a key': {
    fits: hasFields,
    damage: (draw) => oneKey(draw, (key) => `"${key}:"`, ' '),
  },
  'bold keys': { fits: hasFields, damage: (draw) => fieldKeys(draw, (key) => `"**${key}**"`) },
  'keys in backticks': { fits: hasFields, damage: (draw) => draw.write({ indent: 2, key: (key) => `\`${key}\`` }) },
  'keys after hyphens': {
    fits: hasFields,
    damage: (draw) => fieldKeys(draw, (key) => `- ${JSON.stringify(key)}`),
  },
  'keys in another order': {
    fits: hasFields,
    damage: (draw) => {
      if (draw.tree.kind !== 'object') return undefined;
      const members = draw.random.shuffle(draw.tree.members);
      const body = members.map((member) => `  ${JSON.stringify(member.key)}: ${textOf(draw, member.key)}`);
      return `{\n${body.join(',\n')}\n}`;
    },
  },
  'extra keys': {
    fits: hasFields,
    damage: (draw) => {
      const extra = draw.random.pick([
        '"notes": "none of this is certain"',
        '"confidence_level": 0.9',
        '"id_": 17',
        '"metadata": {"source": "text", "page": 3}',
      ]);
      const spot = draw.spot(isMemberOfClass);
      if (spot === undefined) return undefined;
      return draw.write({ indent: 2, before: (given) => (given.index === spot.index ? `${extra}, ` : '') });
    },
  },
  'absent optional fields': {
    fits: (subject) => isComposite(subject) && has('optional')(subject),
    damage: (draw) => {
      if (
        draw.spot(isNullField) === undefined ||
        draw.spot((spot) => isMemberOfClass(spot) && !isNullField(spot)) === undefined
      )
        return undefined;
      return draw.write({ indent: 2, omit: isNullField });
    },
  },
  'a key twice with the same value': {
    fits: hasFields,
    damage: (draw) => {
      const spot = draw.spot(
        (given) => isMemberOfClass(given) && given.tree.kind !== 'object' && given.tree.kind !== 'list',
      );
      if (spot === undefined || spot.member === undefined) return undefined;
      const { tree, member } = spot;
      const copy = `${JSON.stringify(member.key)}: ${JSON.stringify(tree.kind === 'text' ? tree.text : tree.kind === 'scalar' ? tree.value : null)}, `;
      return draw.write({ indent: 2, before: (given) => (given.index === spot.index ? copy : '') });
    },
  },
  'labels in lower case': { fits: hasLabels, damage: (draw) => labels(draw, (text) => text.toLowerCase()) },
  'labels in upper case': { fits: hasLabels, damage: (draw) => labels(draw, (text) => text.toUpperCase()) },
  'labels with spaces': {
    fits: hasLabels,
    damage: (draw) => labels(draw, (text) => text.replaceAll('_', ' ').toLowerCase()),
  },
  'labels with hyphens': {
    fits: hasLabels,
    damage: (draw) => labels(draw, (text) => text.replaceAll(/[_ ]/gu, '-').toLowerCase()),
  },
  'labels in Title Case': {
    fits: hasLabels,
    damage: (draw) => labels(draw, (text) => wordsOf(text).map(capital).join(' ')),
  },
  'labels in camelCase': { fits: hasLabels, damage: (draw) => labels(draw, (text) => camelCase(wordsOf(text))) },
  'labels with white space and dots': { fits: hasLabels, damage: (draw) => labels(draw, (text) => ` ${text}.`) },
  'labels with an emoji': {
    fits: hasLabels,
    damage: (draw) => labelValues(draw, (text) => `${draw.random.pick(['✅', '🔴', '⭐'])} ${text}`),
  },
  'labels with escaped underscores': {
    fits: hasLabels,
    damage: (draw) => labels(draw, (text) => text.replaceAll('_', String.raw`\_`)),
  },
  'bold labels': { fits: hasLabels, damage: (draw) => labels(draw, (text) => `**${text}**`) },
  'labels in quotes': { fits: hasLabels, damage: (draw) => labels(draw, (text) => `'${text}'`) },
  'labels with an explanation': {
    fits: hasLabels,
    damage: (draw) => {
      const explanation = draw.random.pick([' - as the text says', ' (from the second line)', ': see above']);
      return labelValues(draw, (text) => text + explanation);
    },
  },
  'labels without quotes': {
    fits: hasLabels,
    damage: (draw) =>
      draw.write({ indent: 2, text: ({ role, text }) => (role === 'label' ? text : JSON.stringify(text)) }),
  },
  'labels with a description': {
    fits: (subject) =>
      hasPart(subject.shape, (part) => part.kind === 'enum' && part.name === 'Department') && isComposite(subject),
    damage: (draw) =>
      labels(
        draw,
        (text) =>
          ({ 'human resources': 'human resources: hiring and contracts', finance: 'finance: money' })[text] ??
          `${text}: computers and networks`,
      ),
  },
});

function isMemberOfClass({ member }: Spot): boolean {
  return member?.role === 'field';
}

function isNullField(spot: Spot): boolean {
  return isMemberOfClass(spot) && spot.tree.kind === 'scalar' && spot.tree.value === null;
}

/** `invoice_number`, `lastName` and `first name` are two words each. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/gu, '$1 $2')
    .split(/[_\- ]+/u)
    .map((word) => word.toLowerCase());
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function camelCase(words: readonly string[]): string {
  return words.map((word, at) => (at === 0 ? word : capital(word))).join('');
}

/** Changes every key of a class; undefined if no key changes. */
function keys(draw: Draw, change: (words: readonly string[]) => string): string | undefined {
  const style = (spell: (key: string) => string): string =>
    draw.write({ indent: 2, key: (key, { member }) => JSON.stringify(member?.role === 'field' ? spell(key) : key) });
  const changed = style((key) => change(wordsOf(key)));
  return changed === style((key) => key) ? undefined : changed;
}

function oneKey(draw: Draw, spell: (key: string, spot: Spot) => string, colon: string): string | undefined {
  const spot = draw.spot(isMemberOfClass);
  if (spot === undefined) return undefined;
  return draw.write({
    indent: 2,
    key: (key, { index }) => (index === spot.index ? spell(key, spot) : JSON.stringify(key)),
    colon: ({ index }) => (index === spot.index ? colon : ': '),
  });
}

/** Changes every enum value and literal, as values and as keys of maps; undefined if none changes. */
function labels(
  draw: Draw,
  change: (text: string) => string,
  isWanted: (text: string) => boolean = () => true,
): string | undefined {
  const style = (spell: (text: string) => string): string =>
    draw.write({
      indent: 2,
      text: ({ role, text }) => JSON.stringify(role === 'label' && isWanted(text) ? spell(text) : text),
      key: (key, { member }) => JSON.stringify(member?.role === 'label' && isWanted(key) ? spell(key) : key),
    });
  const changed = style(change);
  return changed === style((text) => text) ? undefined : changed;
}

/** Changes labels as values only. */
function labelValues(draw: Draw, change: (text: string) => string): string | undefined {
  const style = (spell: (text: string) => string): string =>
    draw.write({ indent: 2, text: ({ role, text }) => JSON.stringify(role === 'label' ? spell(text) : text) });
  const changed = style(change);
  return changed === style((text) => text) ? undefined : changed;
}

/** Writes the keys of classes in another way; the keys of maps are data. */
function fieldKeys(draw: Draw, spell: (key: string) => string): string {
  return draw.write({
    indent: 2,
    key: (key, { member }) => (member?.role === 'field' ? spell(key) : JSON.stringify(key)),
  });
}

/** The text of one member of the root. */
function textOf(draw: Draw, key: string): string {
  const { tree } = draw;
  const member = tree.kind === 'object' ? tree.members.find((each) => each.key === key) : undefined;
  return member === undefined ? 'null' : draw.part(member.value);
}
