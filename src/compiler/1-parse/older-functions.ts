import type { DefinitionToken } from './tokens.ts';

/** The entries of a block by key, as text without comments. */
export type WrittenEntries = ReadonlyMap<string, string>;

/** Joins the tokens of each entry of a block. A key is the first word of a line or of the block. */
export function writtenEntries(tokens: readonly DefinitionToken[]): WrittenEntries {
  const entries = new Map<string, string>();
  const depth = tokens[0]?.depth;
  let key = '';
  for (const [index, token] of tokens.entries()) {
    if (token.depth === depth && (token.onNewLine || index === 0) && /^\w+$/u.test(token.image)) {
      key = token.image;
      entries.set(key, '');
      continue;
    }
    const end = tokens[index - 1]?.endOffset ?? token.startOffset;
    const before = entries.get(key) ?? '';
    const isGlued = before === '' || token.startOffset === end + 1;
    entries.set(key, `${before}${isGlued ? '' : ' '}${token.image}`);
  }
  return entries;
}

/** Returns whether a block without parameters is a function in the older syntax. */
export function isOlderFunction(entries: WrittenEntries): boolean {
  return entries.has('input') || entries.has('output');
}

/** Writes a function in the older syntax, `function F { input … output … client … prompt … }`, in the current one. */
export function inTodaysForm(name: string, entries: WrittenEntries): string {
  const input = entries.get('input');
  const hasNames = input?.startsWith('(') === true;
  const parameters = hasNames ? input : `(${input === undefined ? '' : `input: ${input}`})`;
  const prompt = entries.get('prompt');
  return [
    `function ${name}${parameters} -> ${entries.get('output') ?? 'string'} {`,
    `  client ${entries.get('client') ?? 'Name'}`,
    `  prompt ${prompt === undefined ? '#"…"#' : withExpressions(prompt, hasNames)}`,
    '}',
  ].join('\n');
}

/** Replaces the older `{#input.x}`, `{#print_type(output)}` and `{// … //}` of a prompt. */
function withExpressions(prompt: string, hasNames: boolean): string {
  return prompt
    .replace(/\{#\s*print_type\(output\)\s*\}/gu, '{{ ctx.output_format }}')
    .replace(/\{#\s*input(\.\w+)?((?:\.\w+)*)\s*\}/gu, (_whole, first: string | undefined, rest: string) =>
      hasNames && first !== undefined ? `{{ ${first.slice(1)}${rest} }}` : `{{ input${first ?? ''}${rest} }}`,
    )
    .replace(/\{\/\/(.*?)\/\/\}/gsu, '{#$1#}');
}
