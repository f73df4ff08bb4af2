/** Letters that Unicode does not decompose, and how they are written without their marks. */
const LIGATURES: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
};

/** The text without accents: `café` = `cafe`, `Straße` = `Strasse`. */
export function foldAccents(text: string): string {
  if (isAscii(text)) return text;
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[ßẞæÆœŒøØłŁđĐ]/gu, (letter) => LIGATURES[letter] ?? letter);
}

/** Letters, digits, `-` and `_` only. */
export function stripPunctuation(text: string): string {
  return text.replace(/[^\p{L}\p{N}_-]+/gu, '');
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) return false;
  return true;
}
