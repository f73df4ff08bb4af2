/** A text in pieces of these lengths, which are begun anew when they are used up. */
export function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}
