import { group, isComposite, isListOfObjects, REFUSAL, type Damaged, type Draw } from '../kind.ts';

/** The reply has several versions or parts of the value, or marks between its members. */
export const VERSIONS = group('versions and parts', {
  'a draft and a final version under labels': {
    fits: isComposite,
    damage: (draw) => versions(draw, draw.random.pick(LABELS)),
  },
  'a quoted final version': {
    fits: isComposite,
    damage: (draw) => {
      const other = draw.another();
      const quoted = draw.write({ indent: 2 }).replaceAll(/^/gmu, '> ');
      return other && `Before correction:\n${other.write({ indent: 2 })}\n\nAfter correction:\n${quoted}`;
    },
  },
  'objects without anything between them': {
    fits: isListOfObjects,
    damage: (draw) => itemsOf(draw)?.join(''),
  },
  'objects with commas and no brackets': {
    fits: isListOfObjects,
    damage: (draw) => itemsOf(draw)?.join(', '),
  },
  'a value that a thought dismisses': {
    fits: isComposite,
    damage: (draw) => ({
      reply: `<think>\nMaybe ${draw.write({})}? No, that is invented.\n</think>\n\nThe text does not contain this information.`,
      truth: REFUSAL,
    }),
  },
});

const LABELS = [
  ['Draft:', 'Final:'],
  ['**First attempt (wrong):**', '**Corrected:**'],
  ['Old (outdated):', 'New (current):'],
] as const;

function versions(draw: Draw, [first, last]: readonly [string, string]): Damaged {
  const other = draw.another();
  return other && `${first}\n\n${other.json()}\n\n${last}\n\n${draw.json()}`;
}

/** Returns the members of a list with at least two, as JSON. */
function itemsOf(draw: Draw): readonly string[] | undefined {
  const { tree } = draw;
  if (tree.kind !== 'list' || tree.items.length < 2) return undefined;
  return tree.items.map((item) => draw.part(item, { minified: true }));
}
