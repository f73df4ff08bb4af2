/** `1 function`, `2 functions`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `312 ms`, `1.2 s`. */
export function durationText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Rounds a number to one decimal. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
