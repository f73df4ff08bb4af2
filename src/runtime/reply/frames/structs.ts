import { changeOutsideStrings } from './outside-strings.ts';

/** A struct, a slice or a map with its type in front. */
const STRUCT =
  /[A-Z]\w*\s?\{\s*[A-Za-z_]\w*\s*:|\bvec!\s?\[|\[\]\*?[\w.]+\{|\bmap\[\w+\][\w.]+\{|"\.(?:to_string|to_owned|into)\(\)/u;
const TYPE = /(?<=[:,=[{(]\s{0,20})(?:&|new )?[A-Z]\w*(?:(?:::|\.)\w+)*(?:<[\w, ]{1,40}>)?\s?(?=\{)/uy;
const SLICE = /(?:&?\[\d*\]\*?[\w.]+\{)/uy;
const MAP = /map\[\w+\](?:\[\])?[\w.]+(?:\{\})?\{/uy;
const CONVERSION = /vec!|\.(?:to_string|to_owned|to_vec|into|clone)\(\)|String::from(?=\()/uy;

/** Values of Rust and Go, with the names of types before their brackets. */
export function fromStructs(text: string): string | undefined {
  const from = text.search(/[[{]/u);
  if (from < 0 || !STRUCT.test(text)) return undefined;
  const lists: boolean[] = [];
  return changeOutsideStrings(text, from, (whole, at) => {
    const slice = lengthAt(SLICE, whole, at);
    const map = slice > 0 ? 0 : lengthAt(MAP, whole, at);
    const character = whole.charAt(at);
    if (slice > 0 || map > 0 || character === '{') {
      lists.push(slice > 0);
      return slice + map === 0 ? undefined : { to: slice > 0 ? '[' : '{', length: slice + map };
    }
    if (character === '}') return lists.pop() === true ? { to: ']', length: 1 } : undefined;
    const length = lengthAt(TYPE, whole, at) || lengthAt(CONVERSION, whole, at);
    return length > 0 ? { to: ' ', length } : undefined;
  });
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}
