/*
 * A prefix in front of each line of JSON: the sign of a quotation, of a list, of a comment or of a diff, or a line number.
 */

/** The prefixes, each with the space after it. */
const PREFIXES: readonly RegExp[] = [
  /^ {0,3}> ?/u,
  /^ {0,3}[-*+•] /u,
  /^ {0,3}(?:#|\/\/|--|%)(?: |$)/u,
  /^ {0,3}[|│](?: |$)/u,
  /^ {0,3}\+/u,
  /^\s{0,8}\d{1,6}(?:[.):|│→\t]| [|│:]| {1,2}(?=\S| ))/u,
];

const LINE_NUMBER = PREFIXES.length - 1;

/** Strips the prefix of the first run of lines that contains JSON. Returns undefined if no run has a prefix. */
export function stripLinePrefixes(text: string): string | undefined {
  if (!text.includes('\n')) return undefined;
  const lines = text.split('\n');
  for (let from = 0; from < lines.length; from += 1) {
    const pattern = PREFIXES.findIndex((prefix) => opensJson(lines[from] ?? '', prefix));
    const prefix = PREFIXES[pattern];
    if (prefix === undefined) continue;
    const to = endOfRun(lines, from, prefix, pattern === LINE_NUMBER);
    if (to - from < 2) continue;
    const inner = lines.slice(from, to).map((line) => line.replace(prefix, ''));
    if (isClosed(inner)) return [...lines.slice(0, from), ...inner, ...lines.slice(to)].join('\n');
    from = to - 1;
  }
  return undefined;
}

/** The line consists of the prefix and the beginning of a value that does not end in the line, or the opening of a fence. */
function opensJson(line: string, prefix: RegExp): boolean {
  const match = prefix.exec(line);
  if (match === null) return false;
  const rest = line.slice(match[0].length).trim();
  return /^(?:[[{]|```)/u.test(rest) && !/[\]}][,;]?$/u.test(rest);
}

/** Returns the index of the first line without the prefix, or out of the order of line numbers. */
function endOfRun(lines: readonly string[], from: number, prefix: RegExp, numbered: boolean): number {
  let to = from;
  const first = Number.parseInt(lines[from] ?? '', 10);
  while (to < lines.length) {
    const line = lines[to] ?? '';
    if (!prefix.test(line) || (numbered && Number.parseInt(line, 10) !== first + to - from)) break;
    to += 1;
  }
  return to;
}

/** The last line that is not empty ends in a bracket or closes a fence. */
function isClosed(lines: readonly string[]): boolean {
  const last = lines.findLast((line) => line.trim() !== '') ?? '';
  return /(?:[\]}][,;]?|```)\s*$/u.test(last);
}
