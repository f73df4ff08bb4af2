import { group, has, isComposite, type Draw } from '../kind.ts';
import type { ReplyTree } from '../reply-tree.ts';
import { fenced } from './around.ts';

/** The reply contains the value and an earlier or another one. */
export const CORRECTIONS = group('drafts and corrections', {
  'fenced draft, fenced correction': (draw) =>
    withDraft(draw, (draft, answer) => `${fenced(draft, 'json')}\n\n${correction(draw)}\n\n${fenced(answer, 'json')}`),
  'fenced draft, bare correction': (draw) =>
    withDraft(draw, (draft, answer) => `${fenced(draft, 'json')}\n\n${correction(draw)}\n\n${answer}`),
  'bare draft, fenced correction': (draw) =>
    withDraft(draw, (draft, answer) => `${draft}\n\n${correction(draw)}\n\n${fenced(answer, 'json')}`),
  'bare draft, bare correction': (draw) =>
    withDraft(draw, (draft, answer) => `${draft}\n\n${correction(draw)}\n\n${answer}`),
  'correction without the fields that are null': {
    fits: (subject) => isComposite(subject) && has('optional')(subject),
    damage: (draw) =>
      withDraft(draw, (draft) => {
        const answer = draw.write({ indent: 2, omit: ({ member, tree }) => member !== undefined && isNull(tree) });
        return `${fenced(draft, 'json')}\n\n${correction(draw)}\n\n${fenced(answer, 'json')}`;
      }),
  },
  'another task that the model made up': (draw) =>
    withDraft(draw, (other, answer) => {
      const [task, response] = draw.random.pick([
        ['Input: The parcel arrived late.', 'Output:'],
        ['### Instruction:\nDo the same for this text.', '### Response:'],
        ['User: And this one?', 'Assistant:'],
        ['Text: The parcel arrived late.', 'Output:'],
        ['Review: The parcel arrived late.', '**Result:**'],
      ] as const);
      return `${answer}\n\n${task}\n\n${response}\n${other}`;
    }),
  'an object of thoughts before': (draw) =>
    `{"thoughts": "I compare both parts first.", "next_step": "answer"}\n\n${draw.json()}`,
  'an object with a note after': (draw) => `${draw.json()}\n\n{"note": "All values are from the text."}`,
  'headings of draft and final answer': (draw) =>
    withDraft(draw, (draft, answer) => {
      const [first, last] = draw.random.pick([
        ['## Draft', '## Final answer'],
        ['**Initial attempt:**', '**Final JSON:**'],
        ['### First version', '### Corrected version'],
      ] as const);
      return `${first}\n\n${fenced(draft, 'json')}\n\n${last}\n\n${fenced(answer, 'json')}`;
    }),
  'correction after a second thought': (draw) =>
    withDraft(draw, (draft, answer) => {
      const words = draw.random.pick([
        'Actually, on second thought:',
        'Thinking about it again, I should change that:',
        'Scratch that. Updated answer:',
        'Oops, wrong values. Fixed:',
        'EDIT:',
      ]);
      return `${draft}\n${words}\n${answer}`;
    }),
  'labels of draft and final answer': (draw) =>
    withDraft(draw, (draft, answer) => `Draft: ${draft}\n\nFinal: ${answer}`),
  'example before the answer': (draw) =>
    withDraft(draw, (example, answer) => {
      const first = draw.random.pick([
        'For example, the format looks like this:',
        'Example of the expected format:',
        'An example:',
      ]);
      const second = draw.random.pick([
        'And here is the actual answer:',
        'Now for your text:',
        'The answer for the given text is:',
      ]);
      return `${first}\n\n${fenced(example, 'json')}\n\n${second}\n\n${fenced(answer, 'json')}`;
    }),
  'example in prose before a bare answer': (draw) =>
    withDraft(draw, (example, answer) => `The format is for example ${example}.\n\n${answer}`),
  'wrong version after the answer': (draw) =>
    withDraft(draw, (wrong, answer) => {
      const between = draw.random.pick([
        'For comparison, an incorrect extraction would have been:',
        'Note that the following would be wrong:',
        'Do not use this earlier, incorrect version:',
      ]);
      return `Here is the answer:\n\n${fenced(answer, 'json')}\n\n${between}\n\n${fenced(wrong, 'json')}`;
    }),
  'example after the answer': (draw) =>
    withDraft(draw, (other, answer) => `${answer}\n\nFor example, another text would give:\n\n${other}`),
  'input repeated before': (draw) =>
    withDraft(
      draw,
      (input, answer) => `You provided:\n\n${fenced(input, 'json')}\n\nThe result:\n\n${fenced(answer, 'json')}`,
    ),
  'previous and updated': (draw) => withDraft(draw, (old, answer) => `Previously:\n${old}\n\nUpdated:\n${answer}`),
  'updated, then previous': (draw) => withDraft(draw, (old, answer) => `Updated:\n${answer}\n\nPreviously:\n${old}`),
  'an option chosen by its number': (draw) =>
    withDraft(draw, (other, answer) => {
      const isFirst = draw.random.chance(0.5);
      const [one, two] = isFirst ? [answer, other] : [other, answer];
      return `Option 1:\n${one}\n\nOption 2:\n${two}\n\nI choose option ${isFirst ? 1 : 2}.`;
    }),
  'input and output': (draw) => withDraft(draw, (input, answer) => `Input:\n${input}\n\nOutput:\n${answer}`),
  'before and after': (draw) =>
    withDraft(draw, (before, after) => `Before:\n${fenced(before)}\n\nAfter:\n${fenced(after)}`),
  'the same value twice': (draw) =>
    `${draw.write({})}\n\nFormatted for readability:\n\n${fenced(draw.write({ indent: 2 }), 'json')}`,
  'verified and repeated': (draw) =>
    `${fenced(draw.write(), 'json')}\n\nLet me check this against the text. Everything matches, so the final answer is:\n\n${fenced(draw.write(), 'json')}`,
  'broken off, then started again': (draw) =>
    withDraft(draw, (draft, answer) => {
      const end = draw.random.int(Math.ceil(draft.length / 3), Math.ceil((draft.length * 2) / 3));
      return `${fenced(draft.slice(0, end), 'json')}\n\nSorry, the output above is incomplete. Here is the complete JSON:\n\n${fenced(answer, 'json')}`;
    }),
  'a correction of one field in words': {
    fits: (subject) => isComposite(subject) && has('int')(subject),
    damage: (draw) => {
      const spot = draw.spot(
        ({ tree, member }) => tree.kind === 'scalar' && tree.role === 'int' && member?.role === 'field',
      );
      if (spot?.tree.kind !== 'scalar' || spot.member === undefined || spot.tree.shared) return undefined;
      const { key } = spot.member;
      if (draw.write({}).split(JSON.stringify(key)).length !== 2) return undefined;
      const [value, draft] = [Number(spot.tree.value), Number(spot.tree.value) + draw.random.int(1, 9)];
      const sentence = draw.random.pick([
        `Correction: \`${key}\` should be ${value}, not ${draft}.`,
        `Wait, the ${key} is wrong: it should be ${value} instead of ${draft}.`,
        `Correction: change ${key} from ${draft} to ${value}.`,
      ]);
      return `${fenced(draw.replaceSpot(spot, String(draft)), 'json')}\n\n${sentence}`;
    },
  },
  'broken off without a fence, then the same again': (draw) => {
    const text = draw.write({ indent: 2 });
    if (text.length < 12 || /\n\s*\n|```/u.test(text)) return undefined;
    const words = draw.random.pick([
      'Let me start over:',
      'I got interrupted. The complete JSON:',
      'Once more, as a whole:',
    ]);
    const answer = draw.random.pick([text, fenced(text, 'json')]);
    return `${text.slice(0, draw.random.int(3, Math.ceil(text.length * 0.7)))}\n\n${words}\n\n${answer}`;
  },
  'two answers with nothing between': {
    clear: false,
    damage: (draw) => withDraft(draw, (draft, answer) => `${draft}\n\n${answer}`),
  },
  'two options': {
    clear: false,
    damage: (draw) => withDraft(draw, (one, two) => `Option A:\n${one}\n\nOption B:\n${two}`),
  },
});

function withDraft(draw: Draw, write: (draft: string, answer: string) => string): string | undefined {
  const draft = draw.another();
  const style = draw.layout();
  return draft === undefined ? undefined : write(draft.write(style), draw.write(style));
}

function isNull(tree: ReplyTree): boolean {
  return tree.kind === 'scalar' && tree.value === null;
}

function correction({ random }: Draw): string {
  return random.pick([
    'Wait, that is not right. The corrected version is:',
    'Actually, I made a mistake above. Corrected:',
    'Correction:',
    'Hmm, looking at the text again, it should be:',
    'On second thought, the final answer is:',
    'I apologize for the error. Here is the revised JSON:',
  ]);
}
