/**
 * Finds the end of a string inside JSON text, or inside JSON text that is itself a string of JSON: `opened` is its quote
 * with the backslashes before it (none, 1, 3, …), and `start` is the place after it. Returns the place of the closing quote
 * with its backslashes, of the end of a string around it, or of the end of a truncated text.
 */
export function findStringEnd(text: string, start: number, opened: string): number {
  const depth = opened.length - 1;
  const quotes = opened.endsWith('"') ? DOUBLE_QUOTE : opened.endsWith("'") ? SINGLE_QUOTE : BACKTICK;
  quotes.lastIndex = start;
  for (let match = quotes.exec(text); match !== null; match = quotes.exec(text)) {
    const slashes = backslashesBefore(text, match.index, start);
    const level = depthOf(slashes);
    if (level <= depth) return match.index - level;
  }
  return text.length;
}

const DOUBLE_QUOTE = /"/gu;

/** A double quote ends these too: it can be the end of a string of JSON text around them. */
const SINGLE_QUOTE = /["']/gu;
const BACKTICK = /["`]/gu;

/**
 * Of the backslashes before a quote, the number that belongs to it if it begins or ends a string: 0, 1, 3, 7, … for each
 * level of nesting. The content's own backslashes double at each level, so the lowest bit decides.
 */
export function depthOf(slashes: number): number {
  return ((slashes + 1) & -(slashes + 1)) - 1;
}

/** Does not look before `start`. */
function backslashesBefore(text: string, at: number, start: number): number {
  let count = 0;
  while (at - count > start && text[at - count - 1] === '\\') count += 1;
  return count;
}

const STRUCTURE = /["{}[\]]/gu;

/**
 * Finds the end of the object or list that begins at `start`; `mark` is the quote of its strings, with their backslashes.
 * Returns the place after it, or the end of a string around it or of a truncated text. If `mark` is not a double quote, the
 * object or list ends before the next double quote.
 */
export function skipContainer(text: string, start: number, mark: string): number {
  const depth = Math.max(0, mark.length - 1);
  let open = 0;
  STRUCTURE.lastIndex = start;
  for (let match = STRUCTURE.exec(text); match !== null; match = STRUCTURE.exec(text)) {
    const at = match.index;
    if (match[0] === '"') {
      const slashes = backslashesBefore(text, at, start);
      const level = depthOf(slashes);
      if (level < depth || !mark.endsWith('"')) return at - level;
      const end = findStringEnd(text, at + 1, mark);
      // The string around it ended, or the text.
      if (!text.startsWith(mark, end)) return end;
      STRUCTURE.lastIndex = end + mark.length;
    } else {
      open += match[0] === '{' || match[0] === '[' ? 1 : -1;
      if (open === 0) return at + 1;
    }
  }
  return text.length;
}
