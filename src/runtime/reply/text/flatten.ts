/** Shorter texts are not worth the call; longer ones are made of flat ones already, and may lie in another as long. */
const FLATTENED = { from: 100, to: 4096 };

/**
 * Makes a text flat that was put together from parts. V8 keeps it as a tree of them, which is many times larger than
 * the text, and with thousands of members outlives the young generation.
 */
export function flatten(text: string): void {
  if (text.length >= FLATTENED.from && text.length < FLATTENED.to) text.charCodeAt(0);
}
