/*
 * A reply that lacks its first bracket, because the prompt already contained the beginning of the answer.
 */

/** A fence around the reply. */
const FENCE = /^\s*```[\w-]*\n/u;

/** An opening fence after other text. */
const OWN_FENCE = /\n[^\S\n]*```[\w-]*\n[^]*```/u;

/** `"key":`, or the same without its first quote. */
const FIRST_KEY = /^\s*("?)[\p{L}_$][\p{L}\p{N}_$ .-]{0,80}"\s*:/u;

/** The first member of a list; a list only if another one follows it after a comma. */
const FIRST_ITEM = /^\s*(?:["'{]|-?\d|\[[^\][]{0,500}\]\s{0,20},\s{0,20}\[)/u;

/** A sequence of strings in quotes, which lacks both brackets. */
const STRINGS = /^\s*"(?:[^"\\\n]|\\.)*"(?:\s*,\s*"(?:[^"\\\n]|\\.)*")+\s*,?\s*$/u;

/** Adds the missing bracket. Returns undefined if none is missing. */
export function openPrefilled(reply: string): string | undefined {
  const fence = FENCE.exec(reply)?.[0] ?? '';
  const text = reply.slice(fence.length);
  const key = FIRST_KEY.exec(text);
  if (key === null && !FIRST_ITEM.test(text)) return undefined;
  // A fence that opens later contains a value of its own.
  if (fence === '' && OWN_FENCE.test(text)) return undefined;
  if (key !== null) return isYaml(text) ? undefined : `${fence}${key[1] === '"' ? '{' : '{"'}${text.trimStart()}`;
  if (STRINGS.test(text)) return `${fence}[${text}]`;
  return closesMore(text) ? `${fence}[${text.trimStart()}` : undefined;
}

/** True for lines after a quoted key of which none ends in a comma or a closing bracket. */
function isYaml(text: string): boolean {
  return /\n\s*["'\p{L}_$-]/u.test(text) && !/[,}\]][^\S\n]*(?:\n|`|$)/u.test(text);
}

/** True if the text ends in a `]` that it does not open. */
function closesMore(text: string): boolean {
  if (!/\][\s`]*$/u.test(text)) return false;
  let depth = 0;
  for (const character of text) {
    if (character === '[') depth += 1;
    else if (character === ']') depth -= 1;
  }
  return depth < 0;
}
