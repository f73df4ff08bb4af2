/*
 * A value that the model wrote several times, each time from its start: the states of a stream, or a value that broke off
 * and was written again.
 */

/** A reply with more starts is something else. */
const MAX_STARTS = 200;

/**
 * Returns the text with the last state only. A bracket at the start of a line begins each state; every state but the last
 * has to be a beginning of the next one, and at least one of them breaks off: whole objects are the members of a list.
 */
export function lastSnapshot(text: string): string | undefined {
  const from = text.search(/^[[{]/mu);
  if (from < 0) return undefined;
  const states = text.slice(from).split(/^(?=[[{])/mu);
  const [first = ''] = states;
  if (states.length < 2 || states.length > MAX_STARTS) return undefined;
  if (!states.every((state) => state.startsWith(first.charAt(0)))) return undefined;
  const beginnings = states.map((state) => beginningOf(state));
  const isGrowing = beginnings.every((state, at) => at === 0 || state.startsWith(beginnings[at - 1] ?? ''));
  return isGrowing && states.slice(0, -1).some(breaksOff) ? text.slice(0, from) + (states.at(-1) ?? '') : undefined;
}

/** Returns a state without its spaces, and without the marks at its end that a later state moves. */
export function beginningOf(state: string): string {
  const text = state.replaceAll(/\s+/gu, '');
  let end = text.length;
  while (end > 0 && '[]{}",…'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** True for a text whose brackets or quotes are not closed. */
function breaksOff(state: string): boolean {
  const { depth, inString } = endOf(state);
  return depth > 0 || inString;
}

/** Returns the number of brackets that are open at the end of a text, and whether a string is. */
export function endOf(state: string): { readonly depth: number; readonly inString: boolean } {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < state.length; at += 1) {
    const character = state.charAt(at);
    if (character === '\\') at += 1;
    else if (character === '"') inString = !inString;
    else if (inString) continue;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
  }
  return { depth, inString };
}
