import {
  both,
  core,
  group,
  has,
  isBool,
  isComposite,
  isLabel,
  isLabelShape,
  isList,
  isListOf,
  isListOfObjects,
  isMap,
  isNumber,
  isObject,
  isScalar,
  REFUSAL,
  replaced,
  takesText,
  valueTruth,
  type Damaged,
  type Draw,
  type Kind,
} from '../kind.ts';
import type { Shape } from '../shape.ts';

const isNumberList = isListOf((item) => item.kind === 'int' || item.kind === 'float');
const isLabelList = isListOf(isLabelShape);
const anyValue: Kind['fits'] = (subject) =>
  !takesText(subject) && subject.shape.kind !== 'optional' && (isComposite(subject) || isScalar(subject));
const isRequired: Kind['fits'] = ({ shape }) => shape.kind !== 'optional';
/** Null and words for nothing can be an empty list, an empty map, or an object without values. */
const needsValue: Kind['fits'] = both(
  anyValue,
  isRequired,
  (subject) => isScalar(subject) || (isObject(subject) && requiredFields(subject.shape) > 0),
);
const isRecord: Kind['fits'] = both(isObject, isRequired, (subject) => requiredFields(subject.shape) > 0);

/** Something of the reply has no place in the type: the rest with a reported loss, or a refusal. */
export const LOSSES = group('losses', {
  'an element of another class': {
    fits: isListOfObjects,
    damage: (draw) => withElement(draw, '{"unrelated": {"deep": true}, "kind": "other"}'),
  },
  'a sentence among objects': {
    fits: isListOfObjects,
    damage: (draw) => withElement(draw, '"see the second page for the others"'),
  },
  'an element without its required fields': {
    fits: isListOfObjects,
    damage: (draw) => {
      if (draw.tree.kind !== 'list') return undefined;
      const first = draw.tree.items[0];
      if (first?.kind !== 'object' || first.members.length < 3) return undefined;
      return withElement(draw, draw.part({ ...first, members: first.members.slice(0, 1) }));
    },
  },
  'a word among numbers': { fits: isNumberList, damage: (draw) => withElement(draw, '"unknown quantity"') },
  'an unknown label in a list': { fits: isLabelList, damage: (draw) => withElement(draw, '"ASTROLOGY_AND_MAGIC"') },
  'an unusable value in a map': {
    fits: both(isMap, ({ shape }) => ['int', 'float', 'class'].includes(mapValueKind(shape))),
    damage: (draw) => withEntry(draw, ': "somewhere in the text"'),
  },
  'an unusable optional': {
    fits: (subject) => isComposite(subject) && has('optional')(subject),
    damage: (draw) => {
      const spot = draw.spot(
        ({ tree, member }) =>
          member?.role === 'field' &&
          tree.kind === 'scalar' &&
          (tree.role === 'int' || tree.role === 'float') &&
          !tree.shared,
      );
      if (
        spot === undefined ||
        spot.member === undefined ||
        !isOptionalField(draw.shape, spot.member.key) ||
        spot.depth > 1
      )
        return undefined;
      const reply = draw.replaceSpot(spot, '"as described in the text"');
      return { reply, truth: { kind: 'rest', value: replaced(draw.value, [spot.member.key], null) } };
    },
  },
  'no element fits': { fits: isListOfObjects, damage: () => refused('[{"unrelated": 1}, {"unrelated": 2}]') },
  'no number in a list of numbers': { fits: isNumberList, damage: () => refused('["a few", "some", "many"]') },
  'a required field is missing': {
    fits: isRecord,
    damage: (draw) => {
      const spot = draw.spot(
        ({ member, depth }) => member !== undefined && depth === 1 && isNeeded(draw.shape, member.key),
      );
      if (spot === undefined || draw.tree.kind !== 'object' || draw.tree.members.length < 2) return undefined;
      const members = draw.tree.members.filter((member) => member !== spot.member);
      return refused(draw.part({ ...draw.tree, members }, { indent: 2 }));
    },
  },
  'a required number is a sentence': {
    fits: both(isRecord, (subject) => has('int')(subject) || has('float')(subject)),
    damage: (draw) => withoutNumber(draw, '"not stated in the text"'),
  },
  'an unknown label in a required field': {
    fits: both(isRecord, has('enum')),
    damage: (draw) => {
      const spot = draw.spot(
        ({ tree, depth, parent }) =>
          depth === 1 && parent === 'object' && tree.kind === 'text' && tree.role === 'label',
      );
      return spot === undefined ? undefined : refused(draw.replaceSpot(spot, '"ASTROLOGY_AND_MAGIC"'));
    },
  },
});

/** The reply has no value. */
export const REFUSALS = group('no value', {
  'the model declines': {
    fits: anyValue,
    damage: ({ random }) =>
      refused(
        random.pick([
          "I'm sorry, but I can't help with that request.",
          'I cannot assist with this.',
          'As an AI language model, I am unable to process this content.',
        ]),
      ),
  },
  'the model found nothing': {
    fits: both(isList, isRequired),
    damage: ({ random }) =>
      refused(
        random.pick(['I could not find any products.', 'There are no matching entries in the text.', 'No results.']),
      ),
  },
  'the model found nothing, for a map': {
    fits: isMap,
    damage: () => refused('The text does not contain any of the requested entries.'),
  },
  'the model asks back': {
    fits: anyValue,
    damage: ({ random }) =>
      refused(
        random.pick([
          'Could you please provide the text you want me to analyze?',
          'Which document do you mean? Please send it again.',
        ]),
      ),
  },
  'the model promises the answer': {
    fits: both(isComposite, isRequired),
    damage: () => refused('I will now extract the data and return it as JSON.'),
  },
  'empty reply': { fits: both(anyValue, isRequired), damage: ({ random }) => refused(random.pick(['', ' ', '\n\n'])) },
  'empty fence': { fits: both(anyValue, isRequired), damage: () => refused('```json\n```') },
  'N/A': {
    fits: needsValue,
    damage: ({ random }) => refused(random.pick(['N/A', 'n/a', 'None', 'unknown'])),
  },
  'null for a required value': { fits: needsValue, damage: () => refused('null') },
  'null for an optional': {
    fits: ({ shape }) => shape.kind === 'optional',
    damage: ({ random }) => ({ reply: random.pick(['null', '```json\nnull\n```', 'None']), truth: valueTruth(null) }),
  },
  'empty list': {
    fits: both(isList, isRequired),
    damage: ({ random }) => ({
      reply: random.pick(['[]', '```json\n[]\n```', 'Here is the list:\n\n[]']),
      truth: valueTruth([]),
    }),
  },
  'empty list with a reason': {
    fits: both(isList, isRequired),
    damage: () => ({ reply: '[]\n\nThe text does not contain any matching entries.', truth: valueTruth([]) }),
  },
  'an error in the place of a number': {
    fits: both(isRecord, (subject) => has('int')(subject) || has('float')(subject)),
    damage: (draw) => withoutNumber(draw, draw.random.pick(['ERROR', '"#REF!"', '"TBD"', '?'])),
  },
  'empty object for a class': { fits: isRecord, damage: () => refused('{}') },
  'an error object': {
    fits: isRecord,
    damage: () => refused('{"error": "The text does not contain this information."}'),
  },
  'only a thought': {
    fits: both(isComposite, isRequired),
    damage: () => refused('<think>\nThe user wants JSON. I should look for { and } in the text.\n</think>'),
  },
  'cut in the middle': {
    fits: both(isRecord, (subject) => requiredFields(subject.shape) > 2),
    damage: (draw) => {
      if (draw.tree.kind !== 'object') return undefined;
      const { members } = draw.tree;
      const kept = { ...draw.tree, members: members.slice(0, Math.ceil(members.length / 2)) };
      const hasMissing = members.slice(kept.members.length).some(({ key }) => isNeeded(draw.shape, key));
      return hasMissing ? refused(`${draw.part(kept, { indent: 2 }).replace(/\n\}$/u, '')},\n  "`) : undefined;
    },
  },
  'only the schema': {
    fits: isRecord,
    damage: (draw) => {
      if (draw.tree.kind !== 'object') return undefined;
      const properties = Object.fromEntries(draw.tree.members.map(({ key }) => [key, { type: 'string' }]));
      return refused(JSON.stringify({ type: 'object', properties, required: Object.keys(properties) }, undefined, 2));
    },
  },
  'code instead of the value': {
    fits: both(
      anyValue,
      isRequired,
      (subject) => isComposite(subject) || isBool(subject) || isLabel(subject) || isNumber(subject),
    ),
    damage: () => refused('```python\nimport json\n\ndef extract(text):\n    return json.loads(text)\n```'),
  },
});

function refused(reply: string): Damaged {
  return { reply, truth: REFUSAL };
}

/** Puts an element that does not fit at some place of the list. */
function withElement(draw: Draw, text: string): Damaged {
  if (draw.tree.kind !== 'list') return undefined;
  const items = draw.tree.items.map((item) => draw.part(item));
  const at = draw.random.int(0, items.length);
  return {
    reply: `[\n  ${[...items.slice(0, at), text, ...items.slice(at)].join(',\n  ')}\n]`,
    truth: { kind: 'rest', value: draw.value },
  };
}

function withEntry(draw: Draw, text: string): Damaged {
  const shape = core(draw.shape);
  if (draw.tree.kind !== 'object' || shape.kind !== 'map') return undefined;
  const used = new Set(draw.tree.members.map(({ key }) => key));
  const keys = core(shape.key);
  const names = keys.kind === 'enum' ? keys.values.map(({ name }) => name) : ['appendix'];
  const free = names.find((name) => !used.has(name));
  if (free === undefined) return undefined;
  const body = draw.write({}).slice(1, -1);
  return { reply: `{${body}, ${JSON.stringify(free)}${text}}`, truth: { kind: 'rest', value: draw.value } };
}

function mapValueKind(shape: Shape): Shape['kind'] | '' {
  const inner = core(shape);
  return inner.kind === 'map' ? core(inner.value).kind : '';
}

/** The number of fields that a reply must have. */
function requiredFields(shape: Shape): number {
  const inner = core(shape);
  if (inner.kind === 'union') return Math.min(...inner.members.map(requiredFields));
  if (inner.kind !== 'class') return 0;
  return inner.fields().filter((field) => !isOptional(field.shape)).length;
}

function isOptional(shape: Shape): boolean {
  return shape.kind === 'optional' || shape.kind === 'list' || shape.kind === 'map';
}

function fieldShape(shape: Shape, key: string): Shape | undefined {
  const inner = core(shape);
  return inner.kind === 'class' ? inner.fields().find(({ name, alias }) => (alias ?? name) === key)?.shape : undefined;
}

function isNeeded(shape: Shape, key: string): boolean {
  const field = fieldShape(shape, key);
  return field !== undefined && !isOptional(field);
}

function isOptionalField(shape: Shape, key: string): boolean {
  return fieldShape(shape, key)?.kind === 'optional';
}

/** The value with a text in the place of a required number. */
function withoutNumber(draw: Draw, text: string): Damaged {
  const spot = draw.spot(
    ({ tree, depth, member }) =>
      depth === 1 &&
      member?.role === 'field' &&
      tree.kind === 'scalar' &&
      (tree.role === 'int' || tree.role === 'float') &&
      !tree.shared,
  );
  if (spot?.member === undefined || !isNeeded(draw.shape, spot.member.key)) return undefined;
  return refused(draw.replaceSpot(spot, text));
}
