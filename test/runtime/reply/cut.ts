/** Cuts a text into deltas of these lengths, which are repeated until the text ends. */
export function cut(text: string, lengths: readonly number[]): string[] {
  const deltas: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    deltas.push(text.slice(at, at + length));
    at += length;
  }
  return deltas;
}
