import {
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  DOUBLE_QUOTE,
  isDigit,
  isWordCharacter,
  LINE_FEED,
  SINGLE_QUOTE,
  skipSpace,
} from './characters.ts';
import { fenceAhead, keyAhead, LOOK_AHEAD, phraseKeyAhead, type Verdict } from './look-ahead.ts';

export interface BareContext {
  readonly inList: boolean;
  /** The token so far, trimmed: no spaces or brackets in it. */
  readonly simple: boolean;
  /** Brackets opened inside the token and not closed. */
  readonly open: number;
  readonly isLast: boolean;
}

/** Does the comma before `from` end a token without quotes? */
export function commaEndsToken(text: string, from: number, digitBefore: boolean, context: BareContext): Verdict {
  if (context.inList && context.open === 0) return 'yes';
  if (from >= text.length) return context.isLast ? 'yes' : 'wait';
  const next = text.charCodeAt(from);
  if (next === LINE_FEED || next === 13) return 'yes';
  if (context.open > 0) return 'no';
  if (next === DOUBLE_QUOTE || next === CLOSE_BRACE) return 'yes';
  if (!context.simple) return keyAhead(text, from, context.isLast);
  // `1,234` and `1,5` are one text each, unless a colon makes the second part a key.
  return isDigit(next) && digitBefore ? keyAhead(text, from, context.isLast) : memberAhead(text, from, context.isLast);
}

/** After one word and a comma, only words that are no key go on with the text: `a, b and c`. */
function memberAhead(text: string, from: number, isLast: boolean): Verdict {
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'yes';
  if (at >= text.length) return isLast ? 'yes' : 'wait';
  return isWordCharacter(text.charCodeAt(at)) ? phraseKeyAhead(text, at, isLast) : 'yes';
}

/** Does the line break before `from` end a token without quotes? */
export function lineEndsToken(text: string, from: number, context: BareContext): Verdict {
  if (context.inList) return 'yes';
  const at = skipSpace(text, from);
  if (at - from > LOOK_AHEAD) return 'no';
  if (at >= text.length) return context.isLast ? 'yes' : 'wait';
  const code = text.charCodeAt(at);
  if (code === CLOSE_BRACE || code === CLOSE_BRACKET) return 'yes';
  if (code === BACKTICK) return fenceAhead(text, at, context.isLast);
  return context.simple && (code === DOUBLE_QUOTE || code === SINGLE_QUOTE)
    ? 'yes'
    : keyAhead(text, at, context.isLast);
}
