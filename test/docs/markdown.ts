/** The lines inside fenced code, in order. */
export function codeLines(markdown: string): readonly string[] {
  const lines: string[] = [];
  let fenced = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    else if (fenced && line.trim() !== '') lines.push(line);
  }
  return lines;
}

/** The npm scripts in the text: `npm run x`, `npm test`, `npm start`. */
export function scriptsIn(markdown: string): readonly string[] {
  return [...markdown.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(test|start)\b)/g)].map(
    ([, script, builtIn]) => script ?? builtIn ?? '',
  );
}

/** The targets of links into the project or the page, outside of code. */
export function linksIn(markdown: string): readonly string[] {
  return [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target ?? '')
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a page: those that GitHub makes from its headings. Equal ones are numbered. */
export function anchorsIn(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutFences(markdown).matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

function withoutCode(markdown: string): string {
  return withoutFences(markdown).replaceAll(/`[^`\n]+`/g, '');
}

function withoutFences(markdown: string): string {
  return markdown.replaceAll(/^(`{3,}).*\n[^]*?^\1$/gm, '');
}

/** The paragraphs and the items of lists, each on one line, without code blocks, tables, headings and comments. */
export function proseIn(markdown: string): readonly string[] {
  const found: string[][] = [];
  let open: string[] | undefined;
  for (const line of withoutFences(markdown).split('\n')) {
    const [, mark, text = ''] = /^\s*(?:(-|\*|\d+\.)\s+)?(.*)$/u.exec(line) ?? [];
    const isCode = open === undefined && line.startsWith('    ');
    const isProse = text !== '' && !isCode && !/^(?:#|\||<!--|!\[)/u.test(text);
    if (!isProse || mark !== undefined) open = undefined;
    if (!isProse) continue;
    if (open === undefined) found.push((open = []));
    open.push(text.trim());
  }
  return found.map((lines) => lines.join(' '));
}

/** A table in Markdown. */
export function tableOf(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  return [rowOf(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(rowOf)].join('\n');
}

/** The cells of the rows of a table, with its header. */
export function rowsOf(table: string): ReadonlyArray<readonly string[]> {
  const lines = table.split('\n').filter((line) => line.startsWith('|'));
  return lines.map((line) =>
    line
      .split(/(?<!\\)\|/u)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|')),
  );
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}
