const WHITE_SPACE = /\p{White_Space}/u;

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
  while (end > 0 && isWhiteSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Returns the length of the white space with which a text begins. */
export function whiteSpaceAtStart(text: string): number {
  let start = 0;
  while (start < text.length && isWhiteSpace(text.charCodeAt(start))) start += 1;
  return start;
}

/** No white space is above U+FFFF, so a code unit decides. */
function isWhiteSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return WHITE_SPACE.test(String.fromCharCode(code));
}
