import { both, group, has, isComposite, isListOfObjects, REFUSAL, type Damaged, type Draw } from '../kind.ts';

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
  'another start after a sentence': {
    fits: isComposite,
    damage: (draw) => {
      const text = draw.write({ indent: 2 });
      const end = text.indexOf('"', 3);
      return end < 0 ? undefined : `${text.slice(0, end + 2)}\n\nLet me start over.\n\n${text}`;
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
  'a list on numbered pages': {
    fits: isListOfObjects,
    damage: (draw) => {
      const items = itemsOf(draw);
      const pages = items?.map((item, at) => `Page ${at + 1}/${items.length}\n\n\`\`\`json\n[${item}]\n\`\`\``);
      return pages?.join('\n\n');
    },
  },
  'a citation behind a string': {
    fits: both(isComposite, has('text')),
    damage: (draw) => {
      const spot = draw.spot(({ tree }) => tree.kind === 'text');
      const mark = draw.random.pick([' [cite: 3]', '【4:9†source】']);
      return spot && draw.replaceSpot(spot, `${draw.part(spot.tree)}${mark}`);
    },
  },
  'a value that a thought dismisses': {
    fits: isComposite,
    damage: (draw) => ({
      reply: `<think>\nMaybe ${draw.write({})}? No, that is invented.\n</think>\n\nThe text does not contain this information.`,
      truth: REFUSAL,
    }),
  },
  'a value that is made up': {
    fits: isComposite,
    damage: (draw) => ({
      reply: `Please send the text. This is only a made-up example:\n\n${draw.json()}`,
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
