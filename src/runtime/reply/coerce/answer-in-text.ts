import { ANSWER_TAG, DENIAL, FINAL_LABEL, NEGATION } from '../phrases.ts';

/** A value that occurs in a text, by offsets. */
export interface Hit {
  readonly from: number;
  readonly to: number;
  /** The JSON text of the value. */
  readonly json: string;
}

export type TextAnswer =
  | { readonly kind: 'answer'; readonly json: string; readonly cued: boolean }
  | { readonly kind: 'several'; readonly values: readonly string[] }
  | { readonly kind: 'none' };

/** The ends of a long text are searched: an answer is at the beginning or at the end. */
const MAX_SEARCHED = 50_000;

/**
 * Finds the value that a text states: the one in a box, a tag, after a label, in the only bold part, or on the last line, in
 * this order; otherwise the only value of the text. `hitsIn`: returns the values of a text.
 */
export function answerInText(raw: string, hitsIn: (text: string) => readonly Hit[]): TextAnswer {
  const text = raw.length <= 2 * MAX_SEARCHED ? raw : `${raw.slice(0, MAX_SEARCHED)}\n${raw.slice(-MAX_SEARCHED)}`;
  const valuesIn = (part: string): readonly string[] => [
    ...new Set(hitsIn(part).flatMap((hit) => (isNegated(part, hit) ? [] : hit.json))),
  ];
  const all = valuesIn(text);
  for (const part of partsOfAnswer(text)) {
    const [json, ...others] = valuesIn(part);
    if (json !== undefined && others.length === 0) return answerOf(json, all.length !== 1);
  }
  const [json, ...others] = all;
  if (json !== undefined && others.length === 0) return answerOf(json, false);
  const alone = valueOnLastLine(text, hitsIn);
  if (alone !== undefined) return answerOf(alone, true);
  return json === undefined ? { kind: 'none' } : { kind: 'several', values: all };
}

/** The value of a hit that is not a value of its own, such as `5` in `5 million`: with it, no other is the only one. */
export const UNREADABLE = '';

function answerOf(json: string | undefined, cued: boolean): TextAnswer {
  return json === undefined || json === UNREADABLE ? { kind: 'none' } : { kind: 'answer', json, cued };
}

const HAS_WORD = /[\p{L}\p{N}]/u;

/** Returns the value that is all of the last line, if no other line has another value alone. */
function valueOnLastLine(text: string, hitsIn: (text: string) => readonly Hit[]): string | undefined {
  const lines = text.trimEnd().split('\n');
  if (lines.length < 2 || lines.length > MAX_LINES) return undefined;
  const alone = lines.map((line) => {
    const [hit, ...others] = line.length > MAX_CLAUSE ? [] : hitsIn(line);
    if (hit === undefined || others.length > 0) return undefined;
    return HAS_WORD.test(line.slice(0, hit.from) + line.slice(hit.to)) ? undefined : hit.json;
  });
  const last = alone.at(-1);
  return alone.every((json) => json === undefined || json === last) ? last : undefined;
}

/** No text that states its answer on the last line has more lines. */
const MAX_LINES = 500;

// --- the parts of a text that state its answer -------------------------------------------------------------------------

/** The longest text after a label. */
const MAX_CLAUSE = 200;
const BOXED = /\\boxed\{([^{}]{0,200})\}/gu;
const TAGGED = new RegExp(`<${ANSWER_TAG}>([^<]{0,2000})</`, 'giu');
const BOLD = /\*\*([^*\n]{1,200})\*\*/gu;

function* partsOfAnswer(text: string): Generator<string> {
  for (const pattern of [BOXED, TAGGED]) {
    const last = [...text.matchAll(pattern)].at(-1)?.[1];
    if (last !== undefined) yield last;
  }
  const label = [...text.matchAll(FINAL_LABEL)].at(-1);
  if (label !== undefined && !isDenied(text, label)) yield clauseAfter(text, label);
  const [bold, ...others] = [...text.matchAll(BOLD)];
  if (bold?.[1] !== undefined && others.length === 0) yield bold[1];
}

function isDenied(text: string, label: RegExpExecArray): boolean {
  const after = text.slice(label.index + label[0].length, label.index + label[0].length + MAX_CLAUSE);
  return /^\s*(?:not|n['’]t|never|neither)\b/iu.test(after);
}

/** Returns the rest of the line after a label, or the next line, up to the end of the sentence. */
function clauseAfter(text: string, label: RegExpExecArray): string {
  const from = label.index + label[0].length;
  const rest = text.slice(from, from + MAX_CLAUSE).trimStart();
  return /^[^]*?(?=\n|[.;](?:\s|$)|$)/u.exec(rest)?.[0] ?? '';
}

// --- negation ------------------------------------------------------------------------------------------------------------

/** The characters before and after a value in which a negation of it can be. */
const MAX_NEGATION = 80;
const BOUNDARY =
  /[.,;:!?()\n]|\s[-–—]+\s|\b(?:but|so|because|since|although|though|while|yet|which|instead(?! of)|then)\b/giu;

/** The rest of a question. */
const ASKED = /^[^.!?\n]{0,200}\?/u;

/** True if the text states that the value does not hold, or only asks for it: `not RED`, `RED is wrong`, `RED?`. */
function isNegated(text: string, { from, to }: Hit): boolean {
  const before = text.slice(Math.max(0, from - MAX_NEGATION), from);
  const last = [...before.matchAll(BOUNDARY)].at(-1);
  const clause = last === undefined ? before : before.slice(last.index + last[0].length);
  const after = text.slice(to, to + MAX_CLAUSE);
  return NEGATION.test(clause) || DENIAL.test(after) || ASKED.test(after);
}
