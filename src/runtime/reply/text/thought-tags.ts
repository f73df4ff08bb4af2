/** Tags between which models think aloud. */
const THOUGHT_TAGS = ['think', 'thinking', 'thought', 'thoughts', 'reasoning', 'reflection', 'scratchpad'];

/** The longest of `</tag>`. */
const LONGEST = 14;

/** The tag that opens a thought at the `<` at `at`; empty when none does, `wait` when the text ends too early. */
export function openingThought(text: string, at: number, isLast: boolean): string {
  const tag = THOUGHT_TAGS.find((name) => text.startsWith(`<${name}>`, at));
  if (tag !== undefined) return tag;
  const rest = text.length - at;
  if (isLast || rest >= LONGEST) return '';
  const head = text.slice(at);
  const possible = THOUGHT_TAGS.some((name) => `<${name}>`.startsWith(head) || `</${name}>`.startsWith(head));
  const closed = THOUGHT_TAGS.some((name) => head.startsWith(`</${name}>`));
  return possible && !closed ? 'wait' : '';
}

/** The length of the tag that closes a thought at the `<` at `at`; 0 when there is none. */
export function closingThought(text: string, at: number): number {
  const tag = THOUGHT_TAGS.find((name) => text.startsWith(`</${name}>`, at));
  return tag === undefined ? 0 : tag.length + 3;
}
