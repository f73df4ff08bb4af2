/** The longest text or address of a link. */
const LONGEST = 1000;
const SCHEME = /^(?:mailto:|tel:)/iu;

/**
 * Returns the text of a Markdown link to the same address, as programs put it around addresses: `[ada@example.org](mailto:ada@example.org)`.
 * Undefined for any other text, since a link with words of its own can be meant.
 */
export function linkedText(text: string): string | undefined {
  if (!text.startsWith('[') || !text.endsWith(')') || text.length > 2 * LONGEST) return undefined;
  const [label = '', target, ...more] = text.slice(1, -1).split('](');
  if (target === undefined || more.length > 0 || label === '' || /\s/u.test(target)) return undefined;
  return addressOf(label) === addressOf(target) ? label.replace(SCHEME, '') : undefined;
}

function addressOf(link: string): string {
  return link
    .replace(SCHEME, '')
    .replaceAll(/[\s()-]/gu, '')
    .replace(/\/$/u, '')
    .toLowerCase();
}
