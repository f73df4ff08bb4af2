/** The name of a token count in answers: `cachedInputTokens` is `cached_input_tokens`. */
export function countName(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}
