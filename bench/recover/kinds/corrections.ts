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
  'input and output': (draw) => withDraft(draw, (input, answer) => `Input:\n${input}\n\nOutput:\n${answer}`),
  'before and after': (draw) =>
    withDraft(draw, (before, after) => `Before:\n${fenced(before)}\n\nAfter:\n${fenced(after)}`),
  'the same value twice': (draw) =>
    `${draw.write({})}\n\nFormatted for readability:\n\n${fenced(draw.write({ indent: 2 }), 'json')}`,
  'verified and repeated': (draw) =>
    `${fenced(draw.write(), 'json')}\n\nLet me check this against the text. Everything matches, so the final answer is:\n\n${fenced(draw.write(), 'json')}`,
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
