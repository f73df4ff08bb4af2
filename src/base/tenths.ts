/** Rounds a number to one decimal. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
