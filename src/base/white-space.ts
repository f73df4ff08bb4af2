const WHITE_SPACE = /\p{White_Space}/u;
const NOT_WHITE_SPACE = /\P{White_Space}/u;

/**
 * Removes white space, as Unicode defines it, from both ends. JavaScript's `trim` also removes the byte order mark and
 * keeps U+0085, so prompts would differ from BAML's.
 */
export function trimWhiteSpace(text: string): string {
  const start = whiteSpaceAtStart(text);
  return start === text.length ? '' : trimWhiteSpaceAtEnd(start === 0 ? text : text.slice(start));
}

export function trimWhiteSpaceAtEnd(text: string): string {
  let end = text.length;
  while (end > 0 && WHITE_SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Returns the length of the white space with which a text begins. */
export function whiteSpaceAtStart(text: string): number {
  const start = text.search(NOT_WHITE_SPACE);
  return start < 0 ? text.length : start;
}
