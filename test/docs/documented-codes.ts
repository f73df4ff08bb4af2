/** Codes in the headings of an error page: `### check/unknown-type` or ``### `timeout` ``, several separated by commas. */
export function codesInHeadings(markdown: string): readonly string[] {
  return markdown
    .split('\n')
    .filter((line) => /^#{3,4} /.test(line))
    .flatMap((line) => line.replace(/^#+ /, '').split(', '))
    .map((code) => code.replaceAll('`', '').trim());
}

export interface Difference {
  readonly undocumented: readonly string[];
  readonly unknown: readonly string[];
  readonly twice: readonly string[];
}

/** The differences between the codes of the program and those that a page explains. */
export function compareCodes(known: readonly string[], documented: readonly string[]): Difference {
  return {
    undocumented: known.filter((code) => !documented.includes(code)).toSorted(),
    unknown: documented.filter((code) => !known.includes(code)).toSorted(),
    twice: documented.filter((code, index) => documented.indexOf(code) !== index),
  };
}
