import { core, group, has, hasPart, isComposite, takesText, type Draw, type Kind } from '../kind.ts';
import type { Shape } from '../shape.ts';
import type { Spot } from '../write-tree.ts';
import { fenced } from './around.ts';

/** Unions with a scalar or any JSON, to which most replies fit in some way. */
const isMixed: Kind['fits'] = (subject) =>
  core(subject.shape).kind === 'union' &&
  !isComposite(subject) &&
  !hasPart(subject.shape, (part) => part.kind === 'text' && part.attributes !== undefined);
const isMixedWithText: Kind['fits'] = (subject) => isMixed(subject) && takesText(subject);
const hasMixedField: Kind['fits'] = (subject) => isComposite(subject) && hasPart(subject.shape, isNumberOrText);
const isLead: Kind['fits'] = ({ name }) => name === 'Lead';
const isChecked: Kind['fits'] = (subject) =>
  isComposite(subject) && hasPart(subject.shape, (part) => part.kind === 'class' && part.name === 'PhoneContact');

function isNumberOrText(shape: Shape): boolean {
  if (shape.kind !== 'union') return false;
  const kinds = new Set(shape.members.map(({ kind }) => kind));
  return kinds.has('text') && (kinds.has('int') || kinds.has('float'));
}

/** More than one member of a union can take the value; its form or a constraint decides. */
export const UNIONS = group('unions and checks', {
  'JSON alone': { fits: isMixed, damage: (draw) => composite(draw, (json) => json) },
  fence: { fits: isMixed, damage: (draw) => composite(draw, (json) => fenced(json, 'json')) },
  'fence after a sentence': {
    fits: (subject) => isMixed(subject) && !takesText(subject),
    damage: (draw) => `Here is the value:\n\n${fenced(draw.json(), 'json')}`,
  },
  'keys without quotes': {
    fits: isMixed,
    damage: (draw) =>
      draw.tree.kind === 'object' ? draw.write({ indent: 2, key: bare, comma: () => ',' }) : undefined,
  },
  'a plain sentence': {
    fits: isMixedWithText,
    damage: (draw) => (draw.tree.kind === 'text' && draw.tree.role === 'free' ? draw.tree.text : undefined),
  },
  'a number alone': { fits: isMixed, damage: (draw) => numberAlone(draw, String) },
  'a number with a plus sign': {
    fits: isMixed,
    damage: (draw) => numberAlone(draw, (value) => (value > 0 ? `+${value}` : undefined)),
  },
  'numbers with a plus sign in a union with a string': {
    fits: hasMixedField,
    damage: (draw) => numberInside(draw, (value) => (value > 0 ? `+${value}` : undefined)),
  },
  'numbers without a first digit in a union with a string': {
    fits: hasMixedField,
    damage: (draw) => numberInside(draw, (value) => (value > 0 && value < 1 ? String(value).slice(1) : undefined)),
  },
  'numbers in a union with a string': { fits: hasMixedField, damage: (draw) => numberInside(draw, String) },
  'a word without quotes in a union with a number': {
    fits: hasMixedField,
    damage: (draw) => {
      const spot = draw.spot(({ tree }) => tree.kind === 'text' && tree.shared && /^[a-z]+$/u.test(tree.text));
      return spot?.tree.kind === 'text' ? draw.replaceSpot(spot, spot.tree.text) : undefined;
    },
  },
  'a check decides': { fits: isChecked, damage: (draw) => draw.write({ ...draw.layout(), omit: isNull }) },
  'a check decides, in a fence between sentences': {
    fits: isChecked,
    damage: (draw) =>
      `The contact is:\n\n${fenced(draw.write({ indent: 2, omit: isNull }), 'json')}\n\nIs there anything else?`,
  },
  'a check decides, with keys without quotes': {
    fits: isChecked,
    damage: (draw) => draw.write({ indent: 2, key: bare, omit: isNull }),
  },
  'a check decides between strings': {
    fits: isLead,
    damage: (draw) => ({ reply: draw.json(), truth: { kind: 'value', value: draw.value, check: contactCheck(draw) } }),
  },
  'a check decides between strings, in prose': {
    fits: isLead,
    damage: (draw) => ({
      reply: `The lead from the text:\n${draw.write({ indent: 2, key: bare })}\nI hope this helps.`,
      truth: { kind: 'value', value: draw.value, check: contactCheck(draw) },
    }),
  },
  'the discriminator comes last': {
    fits: (subject) => isComposite(subject) && isDiscriminated(core(subject.shape)),
    damage: (draw) => {
      if (draw.tree.kind !== 'object') return undefined;
      const [first, ...rest] = draw.tree.members;
      return first === undefined ? undefined : draw.part({ ...draw.tree, members: [...rest, first] }, { indent: 2 });
    },
  },
  'a class of the union as its wrapper': {
    fits: (subject) => isComposite(subject) && isDiscriminated(core(subject.shape)),
    damage: (draw) => {
      if (draw.tree.kind !== 'object') return undefined;
      const [label] = draw.tree.members;
      const name = label?.value.kind === 'text' ? label.value.text : 'value';
      return `{"${name.slice(0, 1).toUpperCase()}${name.slice(1)}": ${draw.json()}}`;
    },
  },
  'a literal number in quotes': {
    fits: (subject) => isComposite(subject) && has('literal')(subject),
    damage: (draw) => {
      const spot = draw.spot(isLiteralNumber);
      return spot?.tree.kind === 'scalar' ? draw.replaceSpot(spot, `"${String(spot.tree.value)}"`) : undefined;
    },
  },
});

/** The check that holds for the contact. */
function contactCheck(draw: Draw): string {
  return JSON.stringify(draw.value).includes('@') ? 'email' : 'phone';
}

/** Such a field would give the class away. */
function isNull({ tree }: Spot): boolean {
  return tree.kind === 'scalar' && tree.value === null;
}

function isDiscriminated(shape: Shape): boolean {
  return shape.kind === 'union' && shape.members.every((member) => member.kind === 'class');
}

function isLiteralNumber({ tree, member }: Spot): boolean {
  return member?.key === 'rating' && tree.kind === 'scalar' && typeof tree.value === 'number';
}

function bare(key: string): string {
  return /^[A-Za-z_]\w*$/u.test(key) ? key : JSON.stringify(key);
}

/** A string alone can be meant with its quotes. */
function composite(draw: Draw, around: (json: string) => string): string | undefined {
  return draw.tree.kind === 'text' ? undefined : around(draw.json());
}

type SpellNumber = (value: number) => string | undefined;

function numberAlone(draw: Draw, spell: SpellNumber): string | undefined {
  return typeof draw.value === 'number' ? spell(draw.value) : undefined;
}

function numberInside(draw: Draw, spell: SpellNumber): string | undefined {
  const spelled = ({ tree }: Spot): string | undefined =>
    tree.kind === 'scalar' && typeof tree.value === 'number' && tree.shared ? spell(tree.value) : undefined;
  const spot = draw.spot((given) => spelled(given) !== undefined);
  return spot === undefined ? undefined : draw.replaceSpot(spot, spelled(spot) ?? '');
}
