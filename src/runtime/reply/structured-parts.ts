import { chooseOutcome, type Judgement } from './choose-part.ts';
import type { CueSpan } from './cues.ts';
import type { ReplyPart } from './reply-parts.ts';
import type { ReplyType } from './reply-type.ts';
import { surroundingsOf } from './surroundings.ts';

/*
 * Several tables, fences without JSON, or texts below headings in one reply: the parts of one list, or a draft or an example before the
 * answer.
 */

/** A reply with more parts is noise. */
const MAX_PARTS = 50;

/** Returns the best reading of the text of one part. */
type BestIn = (text: string) => ReplyPart | undefined;

/**
 * Judges the tables and fences of a text one by one. Returns undefined unless they are the parts of one list, or the words around
 * them distinguish one from all others.
 */
export function judgeStructuredParts(text: string, type: ReplyType, bestIn: BestIn): Judgement | undefined {
  return judgeSpans(text, partSpans(text), type, bestIn);
}

/**
 * Judges the texts below headings and labels one by one. Returns undefined unless all of them are the parts of one list. `rows`: the
 * number of members if the text is read as a whole; the parts are the better reading only if they have more.
 */
export function judgeSections(
  text: string,
  type: ReplyType,
  { rows, bestIn }: { readonly rows: number; readonly bestIn: BestIn },
): Judgement | undefined {
  const spans = sectionSpans(text);
  const judgement = type.hasList ? judgeSpans(text, spans, type, bestIn) : undefined;
  const best = judgement?.choice.best?.part;
  return best?.joins?.length === spans.length && best.node.items.length > rows ? judgement : undefined;
}

function judgeSpans(text: string, spans: readonly CueSpan[], type: ReplyType, bestIn: BestIn): Judgement | undefined {
  if (spans.length < 2 || spans.length > MAX_PARTS) return undefined;
  const parts = spans.flatMap(({ from, to }, at): ReplyPart[] => {
    const best = bestIn(text.slice(from, to));
    if (best === undefined) return [];
    const around = surroundingsOf(text, { from, to, fence: undefined, after: spans[at - 1]?.to ?? 0 });
    return [{ ...best, kind: 'prose', from, to, ...around }];
  });
  if (parts.length < 2) return undefined;
  const read = { parts, values: [], coerced: 0, answerFrom: 0, gaveUp: false };
  const choice = chooseOutcome(read, text, type);
  const { best, refusal, standings } = choice;
  if (best === undefined || refusal !== undefined || best.demotion !== '') return undefined;
  const isAlone = standings.every((each) => each === best || isLess(each.demotion, each.part, best.part));
  return isAlone ? { outcome: best.value, read, choice, ofThoughts: false } : undefined;
}

function isLess(demotion: string, { role }: ReplyPart, best: ReplyPart): boolean {
  return demotion !== '' || (best.role === 'answer' && role !== 'answer');
}

/** A heading, or a line that ends in a colon and begins neither with a mark nor with a number. */
const SECTION = /^(?:#{1,6}\s|\*\*[^*]{1,80}\*\*:?\s*$|[^\s\-*+|#>\d`][^|]{0,80}:\s*$)/u;

/** Returns the places of the lines below headings and labels. */
function sectionSpans(text: string): readonly CueSpan[] {
  const spans: CueSpan[] = [];
  let isHeaded = false;
  let at = 0;
  for (const line of text.split('\n')) {
    const last = spans.at(-1);
    const to = at + line.length;
    const isHeading = SECTION.test(line);
    const isText = !isHeading && line.trim() !== '';
    if (isText && isHeaded) spans.push({ from: at, to });
    else if (isText && last !== undefined) spans[spans.length - 1] = { ...last, to };
    isHeaded = isHeading || (isHeaded && !isText);
    at += line.length + 1;
  }
  return spans;
}

const FENCE = /^[ \t]*```/u;

/** Returns the places of the fences, and of the tables outside of them. */
function partSpans(text: string): readonly CueSpan[] {
  const spans: CueSpan[] = [];
  let isFence = false;
  let isTable = false;
  let at = 0;
  for (const line of text.split('\n')) {
    const isMark = FENCE.test(line);
    const isRow = !isFence && !isMark && /[|│┃║]/u.test(line);
    const last = spans.at(-1);
    if (last !== undefined && (isFence || (isRow && isTable)))
      spans[spans.length - 1] = { ...last, to: at + line.length };
    else if (isMark || isRow) spans.push({ from: at, to: at + line.length });
    if (isMark) isFence = !isFence;
    isTable = isRow;
    at += line.length + 1;
  }
  return spans;
}
