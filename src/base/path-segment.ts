/** One segment of the path of a URL. `_` takes the place of a segment of dots, which would lead upwards (`..`). Never throws. */
export function pathSegment(text: string): string {
  return /^\.+$/u.test(text) ? '_' : encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}
