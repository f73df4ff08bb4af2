import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { TokenType } from 'chevrotain';
import * as t from './tokens.ts';

/** Deeper than any definition written by hand, and shallow enough for a recursive grammar. */
const MAX_DEPTH = 64;

const CLOSER_OF = new Map<TokenType, TokenType>([
  [t.LeftBrace, t.RightBrace],
  [t.LeftParenthesis, t.RightParenthesis],
  [t.LeftBracket, t.RightBracket],
]);
const CLOSERS = new Set<TokenType>(CLOSER_OF.values());

export interface Balanced {
  /** Significant tokens; every bracket has its partner (`match` on the opening one). */
  readonly tokens: t.DefinitionToken[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Makes every bracket have a partner, so that the grammar can always skip to the end of a block: missing closing
 * brackets are added (without an image), superfluous ones dropped, and what is nested too deep becomes one token.
 */
export function balanceBrackets(file: string, all: readonly t.DefinitionToken[]): Balanced {
  return new Balancer(file).run(all);
}

class Balancer {
  readonly #file: string;
  readonly #tokens: t.DefinitionToken[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #open: t.DefinitionToken[] = [];
  /** How many brackets are open inside the part that is left out. */
  #tooDeep = 0;

  constructor(file: string) {
    this.#file = file;
  }

  run(all: readonly t.DefinitionToken[]): Balanced {
    for (const token of all) {
      if (!t.isTrivia(token.tokenType)) this.#take(token);
    }
    this.#closeAll(this.#tokens.at(-1));
    return { tokens: this.#tokens, diagnostics: this.#diagnostics };
  }

  #take(token: t.DefinitionToken): void {
    if (token.startsDeclaration === true) this.#closeAll(this.#tokens.at(-1));
    if (this.#tooDeep > 0) this.#skip(token);
    else if (CLOSER_OF.has(token.tokenType)) this.#opening(token);
    else if (CLOSERS.has(token.tokenType)) this.#closing(token);
    else this.#tokens.push(token);
  }

  #skip(token: t.DefinitionToken): void {
    if (CLOSER_OF.has(token.tokenType)) this.#tooDeep += 1;
    else if (CLOSERS.has(token.tokenType)) this.#tooDeep -= 1;
  }

  #opening(token: t.DefinitionToken): void {
    if (this.#open.length < MAX_DEPTH) {
      this.#open.push(token);
      this.#tokens.push(token);
      return;
    }
    this.#diagnostics.push(parseDiagnostic('parse/nesting-too-deep', this.#span(token), { limit: MAX_DEPTH }));
    this.#tokens.push({ ...token, tokenType: t.TooDeep, tokenTypeIdx: t.TooDeep.tokenTypeIdx ?? 0 });
    this.#tooDeep = 1;
  }

  #closing(token: t.DefinitionToken): void {
    const index = this.#open.findLastIndex((opener) => CLOSER_OF.get(opener.tokenType) === token.tokenType);
    if (index < 0) {
      const text = token.image;
      this.#diagnostics.push(parseDiagnostic('parse/unmatched-bracket', this.#span(token), { text }));
      return;
    }
    this.#closeDownTo(index + 1, this.#tokens.at(-1));
    this.#pair(token);
  }

  #closeAll(last: t.DefinitionToken | undefined): void {
    this.#tooDeep = 0;
    this.#closeDownTo(0, last);
  }

  /** Closes what nobody closed; one diagnostic for the innermost, since the others follow from the same mistake. */
  #closeDownTo(depth: number, last: t.DefinitionToken | undefined): void {
    const innermost = this.#open.at(-1);
    if (innermost === undefined || this.#open.length <= depth) return;
    const text = innermost.image;
    this.#diagnostics.push(parseDiagnostic('parse/unclosed-bracket', this.#span(innermost), { text }));
    const at = last === undefined ? 0 : (last.endOffset ?? last.startOffset) + 1;
    while (this.#open.length > depth) this.#pair(virtualCloser(this.#open.at(-1), at));
  }

  #pair(closer: t.DefinitionToken): void {
    const opener = this.#open.pop();
    if (opener !== undefined) opener.match = this.#tokens.length;
    this.#tokens.push(closer);
  }

  #span(token: t.DefinitionToken): { file: string; start: number; end: number } {
    return { file: this.#file, start: token.startOffset, end: token.startOffset + token.image.length };
  }
}

function virtualCloser(opener: t.DefinitionToken | undefined, at: number): t.DefinitionToken {
  const type = CLOSER_OF.get(opener?.tokenType ?? t.LeftBrace) ?? t.RightBrace;
  return {
    image: '',
    startOffset: at,
    endOffset: at - 1,
    tokenType: type,
    tokenTypeIdx: type.tokenTypeIdx ?? 0,
    onNewLine: true,
  };
}
