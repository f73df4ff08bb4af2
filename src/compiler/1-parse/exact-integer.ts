/** A longer integer is beyond the range of doubles. */
const LONGEST_INTEGER = 320;

/** True if a JavaScript number holds exactly the value of an integer: up to 2^53, and of some larger ones. */
export function isExactInteger(text: string): boolean {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return true;
  return text.length <= LONGEST_INTEGER && Number.isFinite(value) && BigInt(text) === BigInt(value);
}
