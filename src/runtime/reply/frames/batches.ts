/** The label of one of several parts of a list: `Page 1/2`, `**Batch 2 of 3:**`. */
const LABEL = /^[ \t>*_#-]*(?:page|batch|part|chunk|set)\s+(\d{1,3})\b(?:\s*(?:\/|of)\s*\d{1,3})?[ \t:.*_)-]*$/gimu;

/** A list in more parts is something else. */
const MAX_BATCHES = 100;

/** Joins the lists below labels that are numbered from 1: the parts of one list. Returns undefined for any other text. */
export function joinBatches(text: string): string | undefined {
  const labels = [...text.matchAll(LABEL)];
  if (labels.length < 2 || labels.length > MAX_BATCHES) return undefined;
  if (!labels.every((label, at) => Number(label[1]) === at + 1)) return undefined;
  const lists = labels.map((label, at) => itemsIn(text.slice(label.index + label[0].length, labels[at + 1]?.index)));
  return lists.includes(undefined) ? undefined : `[${lists.join(',\n')}]`;
}

/** Returns the text between the brackets of a list; undefined if the text contains none, or anything else in brackets. */
function itemsIn(text: string): string | undefined {
  const from = text.indexOf('[');
  const to = text.lastIndexOf(']');
  const isOnly = from >= 0 && to > from && !/[{}]/u.test(text.slice(0, from) + text.slice(to));
  const items = text.slice(from + 1, to).trim();
  return isOnly && items !== '' ? items.replace(/,$/u, '') : undefined;
}
