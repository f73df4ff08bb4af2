/** Words, groups of three digits, line breaks and pairs of signs: about the units in which tokenizers of models split text. */
const UNITS =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{L}+\p{M}*|\p{N}{1,3}|\n+|[^\s\p{L}\p{N}]{1,2}/gu;

/** Longer words are several tokens. */
const LETTERS_PER_TOKEN = 7;

/** What a message takes beside its content: its role and its ends. */
const TOKENS_PER_MESSAGE = 4;

/** Estimates the number of tokens of a text. Tokenizers differ from model to model, so no count is right for all of them. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [unit] of text.matchAll(UNITS))
    tokens += /^\p{L}/u.test(unit) ? Math.ceil(unit.length / LETTERS_PER_TOKEN) : 1;
  return tokens;
}

/** Estimates the tokens of a message by the texts of its parts. */
export function estimateMessageTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokens(text), TOKENS_PER_MESSAGE);
}
