/** Anything but printable ASCII. */
const UNSAFE = /[^ -~]/g;

/**
 * The value as it may stand in a response header: what is not printable ASCII becomes `?`. uWebSockets.js writes
 * values as they are, so that a CR or LF in one would begin a header, or a response, of its own.
 */
export function headerValue(value: string): string {
  return value.replace(UNSAFE, '?');
}
