/*
 * An object whose members lack brackets: a list without any (`"tags": "a", "b", "next": 1`), or an object without its
 * opening brace (`"address": "street": "x", "city": "y"}`).
 */

const TOKEN = /\s+|"(?:[^"\\]|\\[^])*"|-?\d[\d.eE+-]*|[\p{L}_$][\p{L}\p{N}_$.-]*|[[\]{}:,]/uy;
const MAX_TOKENS = 20_000;

/** Adds the brackets. Returns undefined if none is missing, or if the text contains more than JSON. */
export function addBrackets(reply: string): string | undefined {
  const from = reply.indexOf('{');
  const to = reply.lastIndexOf('}') + 1;
  if (from < 0 || to <= from || !MAY_LACK.test(reply)) return undefined;
  const tokens = tokensOf(reply.slice(from, to));
  const parts = tokens === undefined ? undefined : new Brackets(tokens).parts();
  return parts === undefined ? undefined : reply.slice(0, from) + parts.join('') + reply.slice(to);
}

/** A key after a key, or a scalar between commas. */
const MAY_LACK =
  /:\s*"[^"\n]{0,200}"\s*:|[:,]\s*(?:"[^"\n]{0,500}"|-?[\w.]{1,30})\s*,\s*(?:"[^"\n]{0,500}"|-?[\w.]{1,30})\s*[,}]/u;

/** Returns the tokens of JSON, with the spaces before each; undefined if the text contains anything else. */
function tokensOf(text: string): readonly string[] | undefined {
  const tokens: string[] = [];
  let spaces = '';
  for (let at = 0; at < text.length;) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined || tokens.length > MAX_TOKENS) return undefined;
    at += token.length;
    if (token.trim() === '') spaces = token;
    else {
      tokens.push(spaces + token);
      spaces = '';
    }
  }
  return tokens;
}

class Brackets {
  readonly #tokens: readonly string[];
  readonly #marks: readonly string[];
  readonly #parts: string[] = [];
  readonly #open: string[] = [];
  #changed = false;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
    this.#marks = tokens.map((token) => token.trim().charAt(0));
  }

  /** Returns the tokens with the brackets added; undefined if none is missing. */
  parts(): readonly string[] | undefined {
    for (let at = 0; at < this.#tokens.length;) at = this.#step(at);
    return this.#changed ? this.#parts : undefined;
  }

  #step(at: number): number {
    const mark = this.#marks[at] ?? '';
    this.#parts.push(this.#tokens[at] ?? '');
    if (mark === '{' || mark === '[') this.#open.push(mark);
    else if (mark === '}' || mark === ']') this.#open.pop();
    if (mark !== ':' || this.#open.at(-1) !== '{') return at + 1;
    if (this.#marks[at + 1] === '"' && this.#marks[at + 2] === ':') {
      this.#add(' {');
      this.#open.push('{');
      return at + 1;
    }
    const end = this.#listEnd(at + 1);
    if (end <= at + 2) return at + 1;
    this.#add(' [', ...this.#tokens.slice(at + 1, end), ']');
    return end;
  }

  #add(...parts: readonly string[]): void {
    this.#parts.push(...parts);
    this.#changed = true;
  }

  /** Returns the end of the scalars that begin at `at` and are not keys. `1,250` is one number. */
  #listEnd(at: number): number {
    let end = at;
    for (let next = at; this.#isScalar(next) && this.#marks[next + 1] !== ':'; next = end + 1) {
      if (next > at && /^\d/u.test(this.#tokens[next] ?? '')) break;
      end = next + 1;
      if (this.#marks[end] !== ',') break;
    }
    return end;
  }

  #isScalar(at: number): boolean {
    return /^(?:"|-?\d|true$|false$|null$)/u.test(this.#tokens[at]?.trim() ?? '');
  }
}
