import { BACKSLASH, DOUBLE_QUOTE } from '../text/characters.ts';

/** True for what may follow a backslash where JSON.stringify writes the same: n t r b f " \ */
export function isCanonicalEscape(code: number): boolean {
  switch (code) {
    case 110:
    case 116:
    case 114:
    case 98:
    case 102:
    case DOUBLE_QUOTE:
    case BACKSLASH:
      return true;
    default:
      return false;
  }
}

/** A JSON string with its quotes, as JSON.stringify writes it; undefined when JSON does not know one of its escapes. */
export function rewritten(source: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(source));
  } catch {
    return undefined;
  }
}
