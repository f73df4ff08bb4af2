import { both, group, has, isAnything, isComposite, type Damaged, type Draw } from '../kind.ts';
import type { Random } from '../random.ts';
import type { Spot } from '../write-tree.ts';

const hasText = both(isComposite, has('text'));
const MAX_PART = 12;

/** The reply is what a server sends while it streams, or what a model writes more than once. */
export const STREAMS = group('streams and states', {
  'events with types': {
    fits: isAnything,
    damage: (draw) =>
      events(
        draw,
        (text) =>
          `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', delta: { text } })}`,
      ),
  },
});

/** The reply has words that change the value before them. */
export const STATED_CORRECTIONS = group('corrections in words', {
  'a note about changes in the value': (draw) =>
    `${draw.json()}\n\n${draw.random.pick([
      'I corrected the spelling and fixed the formatting.',
      'Note: errors in the source were corrected. Actually, the text mentions most of it twice.',
      'Sorry for the delay! Let me know if I should change anything.',
    ])}`,
});

/** Strings between quotes of other languages and tools. */
export const FOREIGN_QUOTES = group('quotes of other languages', {
  'corner brackets': between('「', '」'),
  'guillemets that point inwards': between('»', '«'),
  'single guillemets': between('‹', '›'),
});

function between(open: string, close: string): { fits: typeof hasText; damage: (draw: Draw) => Damaged } {
  return {
    fits: hasText,
    damage: (draw) => {
      const spot = draw.spot(isPlain);
      return spot?.tree.kind === 'text' ? draw.replaceSpot(spot, `${open}${spot.tree.text}${close}`) : undefined;
    },
  };
}

/** A string of words and numbers, without other signs. */
function isPlain({ tree, index, member, parent }: Spot): boolean {
  const isValue = parent === 'list' || member !== undefined;
  return index > 0 && isValue && tree.kind === 'text' && /^[\p{L}\p{N} .-]+$/u.test(tree.text);
}

function parts(text: string, random: Random): readonly string[] {
  const all: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + random.int(1, MAX_PART);
    all.push(text.slice(at, end));
    at = end;
  }
  return all;
}

function events(draw: Draw, write: (part: string) => string): string {
  const text = typeof draw.value === 'string' ? draw.value : draw.json();
  return `${parts(text, draw.random).map(write).join('\n\n')}\n\ndata: [DONE]`;
}
