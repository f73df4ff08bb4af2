/** One segment of the path of a URL. `_` takes the place of a segment of dots, which would lead upwards (`..`). Never throws. */
export function pathSegment(text: string): string {
  return /^\.+$/u.test(text) ? '_' : encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

/** Returns the text without its percent-encoding; undefined if the encoding is invalid. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
