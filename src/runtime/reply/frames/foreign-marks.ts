/*
 * Marks between the members of JSON that belong to the place where a model's text is shown, not to the value: citations of search
 * results, and characters without width.
 */

/** A scalar or bracket, after which a mark does not belong to a string. */
const MEMBER = String.raw`(?<=["}\]]\s*,?|[:[,]\s*(?:-?\d[\d.]{0,30}|true|false|null)\s*,?)`;
const MARK = String.raw`(?:\[cite(?:_start|_end)?(?::[^\]\n]{0,40})?\]|【[^】\n]{1,60}】|:contentReference\[oaicite:\d{1,4}\]\{index=\d{1,4}\})`;
const CITATION = new RegExp(String.raw`${MEMBER}\s*(?:${MARK}\s?){1,5}(?=\s*(?:[,}\]\n]|$))`, 'gu');
const CITATION_START = /^(\s*)\[cite_start\]\s*/gmu;

/** Removes citations such as `[cite: 3]` and `【4:9†source】` behind the members of JSON. */
export function stripCitations(text: string): string | undefined {
  if (!text.includes('cite') && !text.includes('【')) return undefined;
  return text.replaceAll(CITATION_START, '$1').replaceAll(CITATION, '');
}

const WIDTHLESS = String.raw`[\u200B\u2060\uFEFF]`;
const HAS_WIDTHLESS = new RegExp(WIDTHLESS, 'u');
const WIDTHLESS_MARK = new RegExp(
  String.raw`(?<=["':,{}[\]]\s{0,40})${WIDTHLESS}+|${WIDTHLESS}+(?=\s{0,40}["':,{}[\]])`,
  'gu',
);

/** Removes characters without width beside the punctuation of JSON. Inside words, they are a part of the text. */
export function stripWidthless(text: string): string | undefined {
  return HAS_WIDTHLESS.test(text) ? text.replaceAll(WIDTHLESS_MARK, '') : undefined;
}
