/** Characters of the user's text that a message repeats. */
const LONGEST_QUOTE = 40;

/** A piece of a file as a message quotes it: its first line, in quotes unless it has its own, cut when it is long. */
export function quoteSource(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  const isCut = line.length > LONGEST_QUOTE || line.length < text.length;
  const shown = `${line.slice(0, LONGEST_QUOTE)}${isCut ? '…' : ''}`;
  return shown.startsWith('"') ? shown : `"${shown}"`;
}
