import { group, refusals, refused } from '../group.ts';
import {
  both,
  core,
  has,
  isComposite,
  isLabelShape,
  isList,
  isListOf,
  isListOfObjects,
  isMap,
  isObject,
  isScalar,
  replaced,
  takesText,
  type Draw,
  type Kind,
  type Way,
} from '../kind.ts';
import type { Shape } from '../shape.ts';
import type { Spot } from '../write-tree.ts';
import { schemaOf } from './prose.ts';

const isNumberList = isListOf((item) => item.kind === 'int' || item.kind === 'float');
const isRequired: Kind['fits'] = (subject) => subject.shape.kind !== 'optional';
const anyValue: Kind['fits'] = both(
  (subject) => !takesText(subject),
  isRequired,
  (subject) => isComposite(subject) || isScalar(subject),
);
const isRecord: Kind['fits'] = both(isObject, isRequired, (subject) => requiredFields(subject.shape) > 0);
const hasNumber: Kind['fits'] = (subject) => has('int')(subject) || has('float')(subject);

/** Something of the reply has no place in the type: the rest with a reported loss, or a refusal. */
const LOSSES = group('losses', {
  'an element that does not fit': {
    fits: isListOfObjects,
    ways: [
      withElement(() => '{"unrelated": {"deep": true}, "kind": "other"}'),
      withElement(() => '"see the second page for the others"'),
      withElement(({ tree, part }) => {
        const first = tree.kind === 'list' ? tree.items[0] : undefined;
        return first?.kind === 'object' && first.members.length > 2
          ? part({ ...first, members: first.members.slice(0, 1) })
          : undefined;
      }),
    ],
  },
  'a word among numbers': { fits: isNumberList, ways: [withElement(() => '"unknown quantity"')] },
  'an unknown label in a list': { fits: isListOf(isLabelShape), ways: [withElement(() => '"ASTROLOGY_AND_MAGIC"')] },
  'an unusable value in a map': {
    fits: both(isMap, ({ shape }) => {
      const inner = core(shape);
      return inner.kind === 'map' && ['int', 'float', 'class'].includes(core(inner.value).kind);
    }),
    ways: [withEntry],
  },
  'an unusable optional': {
    fits: both(isComposite, has('optional')),
    ways: [
      (draw) => {
        const spot = draw.spot((given) => isNumberField(given) && fieldShape(draw.shape, given)?.kind === 'optional');
        if (spot?.member === undefined) return undefined;
        const truth = { kind: 'rest', value: replaced(draw.value, [spot.member.key], null) } as const;
        return { reply: draw.replaceSpot(spot, '"as described in the text"'), truth };
      },
    ],
  },
  'no element fits': { fits: isListOfObjects, ways: refusals('[{"unrelated": 1}, {"unrelated": 2}]') },
  'no number in a list of numbers': { fits: isNumberList, ways: refusals('["a few", "some", "many"]') },
  'a required field is missing': {
    fits: isRecord,
    ways: [
      (draw) => {
        const spot = draw.spot((given) => isNeeded(draw.shape, given));
        if (spot === undefined || draw.tree.kind !== 'object' || draw.tree.members.length < 2) return undefined;
        return refused(draw.write({ indent: 2, omit: ({ member, depth }) => depth === 1 && member === spot.member }));
      },
      (draw) => {
        if (draw.tree.kind !== 'object' || requiredFields(draw.shape) < 3) return undefined;
        const { members } = draw.tree;
        const kept = { ...draw.tree, members: members.slice(0, Math.ceil(members.length / 2)) };
        const isCut = members.slice(kept.members.length).some((member) => isNeeded(draw.shape, { member, depth: 1 }));
        return isCut ? refused(`${draw.part(kept, { indent: 2 }).replace(/\n\}$/u, '')},\n  "`) : undefined;
      },
    ],
  },
  'a required number is not one': {
    fits: both(isRecord, hasNumber),
    ways: ['"not stated in the text"', 'ERROR', '"#REF!"', '"TBD"', '?'].map((text) => (draw) => {
      const spot = draw.spot((given) => isNumberField(given) && isNeeded(draw.shape, given));
      return refused(spot && draw.replaceSpot(spot, text));
    }),
  },
  'an unknown label in a required field': {
    fits: both(isRecord, has('enum')),
    ways: [
      (draw) => {
        const spot = draw.spot(
          ({ tree, depth, parent }) =>
            depth === 1 && parent === 'object' && tree.kind === 'text' && tree.role === 'label',
        );
        return refused(spot && draw.replaceSpot(spot, '"ASTROLOGY_AND_MAGIC"'));
      },
    ],
  },
});

/** The reply has no value. */
const REFUSALS = group('no value', {
  'the model declines or asks back': {
    fits: anyValue,
    ways: refusals(
      "I'm sorry, but I can't help with that request.",
      'As an AI language model, I am unable to process this content.',
      'Could you please provide the text you want me to analyze?',
      'Which document do you mean? Please send it again.',
    ),
  },
  'the model found nothing': {
    fits: both(isRequired, (subject) => isList(subject) || isMap(subject)),
    ways: refusals('I could not find any products.', 'There are no matching entries in the text.', 'No results.'),
  },
  'the model promises the answer': {
    fits: both(isComposite, isRequired),
    ways: refusals(
      'I will now extract the data and return it as JSON.',
      '<think>\nThe user wants JSON. I should look for { and } in the text.\n</think>',
    ),
  },
  'an empty reply': { fits: anyValue, ways: refusals('', ' ', '\n\n', '```json\n```') },
  // Null and words for nothing can be an empty list, an empty map, or an object without values.
  'a word for nothing': {
    fits: both(anyValue, (subject) => isScalar(subject) || isRecord(subject)),
    ways: refusals('N/A', 'n/a', 'None', 'unknown', 'null'),
  },
  'null for an optional': {
    fits: ({ shape }) => shape.kind === 'optional',
    ways: ['null', '```json\nnull\n```', 'None'].map((reply) => () => ({
      reply,
      truth: { kind: 'value', value: null },
    })),
  },
  'an empty list': {
    fits: both(isList, isRequired),
    ways: [
      '[]',
      '```json\n[]\n```',
      'Here is the list:\n\n[]',
      '[]\n\nThe text does not contain any matching entries.',
    ].map((reply) => () => ({ reply, truth: { kind: 'value', value: [] } })),
  },
  'another object': {
    fits: isRecord,
    ways: [
      ...refusals('{}', '{"error": "The text does not contain this information."}'),
      (draw) => (draw.tree.kind === 'object' ? refused(schemaOf(draw)) : undefined),
    ],
  },
  'code instead of the value': {
    fits: anyValue,
    ways: refusals('```python\nimport json\n\ndef extract(text):\n    return json.loads(text)\n```'),
  },
});

export const WITHOUT_VALUE: readonly Kind[] = [...LOSSES, ...REFUSALS];

/** Puts an element that does not fit at some place of the list. */
function withElement(textOf: (draw: Draw) => string | undefined): Way {
  return (draw) => {
    const text = textOf(draw);
    if (draw.tree.kind !== 'list' || text === undefined) return undefined;
    const items = draw.tree.items.map((item) => draw.part(item));
    const all = items.toSpliced(draw.random.int(0, items.length), 0, text);
    return { reply: `[\n  ${all.join(',\n  ')}\n]`, truth: { kind: 'rest', value: draw.value } };
  };
}

function withEntry(draw: Draw): ReturnType<Way> {
  const shape = core(draw.shape);
  if (draw.tree.kind !== 'object' || shape.kind !== 'map') return undefined;
  const keys = core(shape.key);
  const names = keys.kind === 'enum' ? keys.values.map(({ name }) => name) : ['appendix'];
  const used = new Set(draw.tree.members.map(({ key }) => key));
  const free = names.find((name) => !used.has(name));
  if (free === undefined) return undefined;
  const reply = `{${draw.write({}).slice(1, -1)}, ${JSON.stringify(free)}: "somewhere in the text"}`;
  return { reply, truth: { kind: 'rest', value: draw.value } };
}

/** The number of fields that a reply must have. */
function requiredFields(shape: Shape): number {
  const inner = core(shape);
  if (inner.kind === 'union') return Math.min(...inner.members.map(requiredFields));
  return inner.kind === 'class' ? inner.fields().filter((field) => !isOptional(field.shape)).length : 0;
}

function isOptional(shape: Shape): boolean {
  return shape.kind === 'optional' || shape.kind === 'list' || shape.kind === 'map';
}

/** The type of a field of the root. */
function fieldShape(shape: Shape, { member, depth }: Pick<Spot, 'member' | 'depth'>): Shape | undefined {
  const inner = core(shape);
  if (inner.kind !== 'class' || depth !== 1) return undefined;
  return inner.fields().find(({ name, alias }) => (alias ?? name) === member?.key)?.shape;
}

function isNeeded(shape: Shape, spot: Pick<Spot, 'member' | 'depth'>): boolean {
  const field = fieldShape(shape, spot);
  return field !== undefined && !isOptional(field);
}

function isNumberField({ tree, member }: Spot): boolean {
  return (
    member?.role === 'field' && tree.kind === 'scalar' && (tree.role === 'int' || tree.role === 'float') && !tree.shared
  );
}
