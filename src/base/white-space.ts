const WHITE_SPACE = /\p{White_Space}/u;
const NOT_WHITE_SPACE = /\P{White_Space}/u;

/**
 * White space as Unicode defines it. `trim` of JavaScript also removes the byte order mark, and keeps U+0085: a prompt
 * would then differ by its runtime.
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

/** The length of the white space with which a text begins. */
export function whiteSpaceAtStart(text: string): number {
  const start = text.search(NOT_WHITE_SPACE);
  return start < 0 ? text.length : start;
}
