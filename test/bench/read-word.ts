/** Finds the word "fuzz" letter by letter: each letter reaches another branch, so that coverage leads to the word. */
export function readWord(text: string): boolean {
  if (text.at(0) === 'f') {
    if (text.at(1) === 'u') {
      if (text.at(2) === 'z') {
        if (text.at(3) === 'z') {
          return true;
        }
        return false;
      }
      return false;
    }
    return false;
  }
  return false;
}
