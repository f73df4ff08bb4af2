/** Compressed forms that may stand ready, the smallest first. */
export type ContentEncoding = 'br' | 'gzip';

/**
 * The first of the offered forms that the client takes, by its `accept-encoding` header (RFC 9110, 12.5.3). Which of those
 * it takes it likes best does not matter: it gets the smallest.
 */
export function chooseEncoding(
  accepted: string | undefined,
  offered: readonly ContentEncoding[],
): ContentEncoding | undefined {
  if (accepted === undefined) return undefined;
  const taken = new Map<string, boolean>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((word) => word.trim());
    taken.set(coding, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)));
  }
  return offered.find((coding) => taken.get(coding) ?? taken.get('*') ?? false);
}
