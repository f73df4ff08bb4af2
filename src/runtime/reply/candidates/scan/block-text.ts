/**
 * Returns the text between triple quotes or backticks, trimmed, without the language line of a fence and without the
 * indentation that all its lines share.
 */
export function dedentBlock(text: string, isFence: boolean): string {
  const body = isFence ? text.slice(text.indexOf('\n') + 1) : text;
  const lines = body.split('\n');
  let shared = Infinity;
  for (const line of lines) {
    const indentation = line.length - line.trimStart().length;
    if (indentation < line.length) shared = Math.min(shared, indentation);
  }
  if (shared === Infinity) return '';
  return lines
    .map((line) => (line.trim() === '' ? '' : line.slice(shared)))
    .join('\n')
    .trim();
}
