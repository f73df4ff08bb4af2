/*
 * Quotes that are missing or written in another notation, where only the text around the string shows it.
 */

/** A string whose closing quote is missing before brackets: the next quote opens a key. */
const UNCLOSED = /("(?:\s*:\s*)"[^"\\\n{}[\]]*?[^"'\\\n{}[\]\s,])'?(?=\s*\}[\s}\]]*,\s*\{?\s*"[\w $.-]{1,60}"\s*:)/gu;
/** The same for the last item of a list. */
const UNCLOSED_ITEM = /([[,]\s*"[^"\\\n{}[\]:]*?[^"\\\n{}[\]\s,:])(?=\s*\][\s}\]]*,\s*\{?\s*"[\w $.-]{1,60}"\s*:)/gu;

/** Closes strings before the bracket after which the next quote opens a key: `{"city": "Lyon}, {"city": …`. */
export function closeStrings(text: string): string | undefined {
  const closed = text.replaceAll(UNCLOSED, '$1"').replaceAll(UNCLOSED_ITEM, '$1"');
  return closed === text ? undefined : closed;
}

/** A string between the quotes of LaTeX, in the place of a key or value. */
const LATEX =
  /(?<=["'`]\s*:\s*|[[{]\s*|["'\w}\]]\s*,\s*)``((?:[^`'\n]|'(?!')|`(?!`)){0,2000})''(?=\s*(?:[,:\]}]|\n|$))/gu;

/** Replaces the quotes of LaTeX: `{"name": ``Ada''}`. */
export function fromLatexQuotes(text: string): string | undefined {
  if (!/(?:["'`]\s*:|[[{])\s*``[^`]/u.test(text)) return undefined;
  const plain = text.replaceAll(LATEX, (_whole, inner: string) => JSON.stringify(inner));
  return plain === text ? undefined : plain;
}
