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

/** The targets of links into the project, without anchors. */
export function linkedFiles(markdown: string): readonly string[] {
  return [...markdown.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target?.replace(/#.*$/, '') ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}
