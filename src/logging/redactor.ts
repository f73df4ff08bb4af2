import { MASK, redactShapes, type Masked } from './credential-shapes.ts';
import { SecretMatcher } from './secret-matcher.ts';
import { SHORTEST_SECRET } from '../base/credentials.ts';

/** The most renewed secrets that svc remembers, the newest ones: more than all accounts of a server need. */
const MOST_RENEWED = 500;

/**
 * Masks credentials in text: the secrets that it knows, in every encoding in which the text quotes them, and every value
 * whose name or shape looks like a credential. It processes the whole text, so the nesting of a value does not
 * matter. JSON text stays valid. A text without credentials costs a few scans.
 */
export class Redactor {
  readonly #secrets: ReadonlySet<string>;
  readonly #renewed = new Set<string>();
  #matcher: SecretMatcher | undefined;

  constructor(secrets: Iterable<string>) {
    this.#secrets = new Set(secrets);
  }

  /** Adds a secret that became known after the start, such as an access token. */
  add(secret: string): void {
    if (this.#secrets.has(secret) || this.#renewed.has(secret)) return;
    this.#renewed.add(secret);
    const [oldest] = this.#renewed;
    if (this.#renewed.size > MOST_RENEWED && oldest !== undefined) this.#renewed.delete(oldest);
    this.#matcher = undefined;
  }

  redact(text: string): string {
    return redactShapes(this.redactValues(text));
  }

  /** Masks only the secrets that it knows. */
  redactValues(text: string): string {
    this.#matcher ??= new SecretMatcher(
      [...this.#secrets, ...this.#renewed].filter((secret) => secret.length >= SHORTEST_SECRET),
    );
    const ranges = this.#matcher.find(text);
    if (ranges.length === 0) return text;
    let result = '';
    let done = 0;
    for (const range of ranges) {
      const { start, end, mask } = maskFor(text, Math.max(range.start, done), Math.max(range.end, done));
      result += text.slice(done, Math.max(start, done)) + (end > done ? mask : '');
      done = Math.max(end, done);
    }
    return result + text.slice(done);
  }
}

/** Widens the range to whole escapes and numbers, so that JSON text stays valid. */
function maskFor(text: string, start: number, end: number): Masked {
  if (!/^[\d.]+$/u.test(text.slice(start, Math.min(end, start + 64)))) {
    return { start: escapeAt(text, start)?.start ?? start, end: escapeAt(text, end)?.end ?? end, mask: MASK };
  }
  let [from, to] = [start, end];
  while (isNumeric(text[from - 1])) from -= 1;
  while (isNumeric(text[to])) to += 1;
  // Digits can be a number of JSON.
  return { start: from, end: to, mask: '0' };
}

function isNumeric(character: string | undefined): boolean {
  return character !== undefined && /[\d.eE+-]/u.test(character);
}

/** The JSON escape that begins before `at` and ends after it. */
function escapeAt(text: string, at: number): { readonly start: number; readonly end: number } | undefined {
  for (let start = at - 1; start >= Math.max(0, at - 5); start -= 1) {
    if (text[start] !== '\\' || !beginsEscape(text, start)) continue;
    const length = text[start + 1] === 'u' ? 6 : 2;
    return start + length > at ? { start, end: start + length } : undefined;
  }
  return undefined;
}

/** A backslash after an even number of backslashes. */
function beginsEscape(text: string, at: number): boolean {
  let before = 0;
  while (text[at - before - 1] === '\\') before += 1;
  return before % 2 === 0;
}
