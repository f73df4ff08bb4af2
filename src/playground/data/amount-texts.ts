/** `$12.35`, `$0.000421`. */
export function dollarText(cost: number): string {
  const isSmall = cost > 0 && cost < 0.1;
  const format = { style: 'currency', currency: 'USD', ...(isSmall && { maximumSignificantDigits: 3 }) } as const;
  return new Intl.NumberFormat('en-US', format).format(cost);
}

/** `1,234`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** The time of day; on another day than `now`, with the date before it. */
export function timeText(at: number, now = Date.now()): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString();
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${date.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })}, ${time}`;
}
