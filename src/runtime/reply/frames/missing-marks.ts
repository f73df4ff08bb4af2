/*
 * JSON that lacks some of its brackets or quotes.
 */

// --- brackets --------------------------------------------------------------------------------------------------------

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

// --- the first bracket -----------------------------------------------------------------------------------------------

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

// --- quotes ----------------------------------------------------------------------------------------------------------

/*
 * Quotes that are missing or written in another notation, where only the text around the string shows it.
 */

/** A string whose closing quote is missing before brackets: the next quote opens a key. */
const UNCLOSED = /("(?:\s*:\s*)"[^"\\\n{}[\]]*?[^"'\\\n{}[\]\s,])'?(?=\s*\}[\s}\]]*,\s*\{?\s*"[\w $.-]{1,60}"\s*:)/gu;
/** The same for the last item of a list. */
const UNCLOSED_ITEM = /([[,]\s*"[^"\\\n{}[\]:]*?[^"\\\n{}[\]\s,:])(?=\s*\][\s}\]]*,\s*\{?\s*"[\w $.-]{1,60}"\s*:)/gu;

/** Closes strings before the bracket after which the next quote opens a key: `{"city": "Lyon}, {"city": …`. */
export function closeStrings(text: string): string | undefined {
  const closed = text.replaceAll(UNCLOSED, '$1"').replaceAll(UNCLOSED_ITEM, '$1"');
  return closed === text ? undefined : closed;
}

/** A string between the quotes of LaTeX, in the place of a key or value. */
const LATEX =
  /(?<=["'`]\s*:\s*|[[{]\s*|["'\w}\]]\s*,\s*)``((?:[^`'\n]|'(?!')|`(?!`)){0,2000})''(?=\s*(?:[,:\]}]|\n|$))/gu;

/** Replaces the quotes of LaTeX: `{"name": ``Ada''}`. */
export function fromLatexQuotes(text: string): string | undefined {
  if (!/(?:["'`]\s*:|[[{])\s*``[^`]/u.test(text)) return undefined;
  const plain = text.replaceAll(LATEX, (_whole, inner: string) => JSON.stringify(inner));
  return plain === text ? undefined : plain;
}
