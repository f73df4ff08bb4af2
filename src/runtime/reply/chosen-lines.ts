import { NUMBERED_VERSION } from './cue-phrases.ts';
import { beginsCorrection, HAS_WORD, isCorrection, roleOfLabel } from './cues.ts';
import { isLabel, lastClause } from './surroundings.ts';

/*
 * The lines of a reply that a model marks as its answer among others: the last version of a value, and checked options.
 */

/** A sentence of correction between two values is short; a longer one can be about anything. */
const MAX_CORRECTION = 120;
/** A longer line is not a label. */
const MAX_LABEL = 160;

/**
 * Returns the text after the label of the final version (`Final answer:`, `After correction:`), or after a line of correction, if a
 * draft comes before; undefined if the reply has only one version.
 */
export function finalVersion(text: string): string | undefined {
  let hasDraft = false;
  let hasText = false;
  let from = -1;
  let at = 0;
  for (const line of text.split('\n')) {
    const end = at + line.length + 1;
    const kind = HAS_WORD.test(line) ? kindOf(line) : 'nothing';
    if (kind === 'draft') hasDraft = true;
    else if (kind === 'answer' && hasDraft && hasText) from = end;
    else if (kind === 'correction' && hasText) from = end;
    else if (kind === 'text') hasText = true;
    at = end;
  }
  const last = from < 0 ? '' : text.slice(from);
  return HAS_WORD.test(last) ? last : undefined;
}

function kindOf(line: string): 'draft' | 'answer' | 'correction' | 'text' {
  const text = line.trim();
  if (text.length > MAX_LABEL) return 'text';
  if (NUMBERED_VERSION.test(text)) return 'draft';
  if (
    /[:：][*_\s]*$|[.…]$/u.test(text) &&
    text.length <= MAX_CORRECTION &&
    beginsCorrection(text) &&
    isCorrection(text)
  )
    return 'correction';
  const role = isLabel(text) ? roleOfLabel(lastClause(text)) : undefined;
  return role === 'answer' || role === 'draft' ? role : 'text';
}

// --- checked options -------------------------------------------------------------------------------------------------

/** A line with a box before its text, and perhaps a bullet or a number before the box. */
const BOX = /^\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[(?<mark>[ xX✓✔]?)\]|(?<on>[☑☒✅✓✔🗹])|[☐⬜□▢🔲])\s*(?=\S)/u;

/**
 * Returns the text without the options that are not checked, and without the boxes of the others; undefined unless some of several
 * boxes are checked. Only values that are chosen from a list are written like this: for texts, a checked box means done.
 */
export function checkedLines(text: string): string | undefined {
  const lines = text.split('\n').map((line) => {
    const box = BOX.exec(line);
    if (box === null) return { line, checked: undefined };
    const { mark = ' ', on } = box.groups ?? {};
    return { line: `- ${line.slice(box[0].length)}`, checked: on !== undefined || mark.trim() !== '' };
  });
  const boxes = lines.filter(({ checked }) => checked !== undefined);
  const isChoice = boxes.length > 1 && boxes.some(({ checked }) => checked) && !boxes.every(({ checked }) => checked);
  if (!isChoice) return undefined;
  return lines.flatMap(({ line, checked }) => (checked === false ? [] : [line])).join('\n');
}
