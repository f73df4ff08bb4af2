import * as t from './tokens.ts';

/** A word that stands alone on its line, indented less than the next line. */
interface LoneKey {
  readonly token: t.DefinitionToken;
  readonly indentation: number;
}

/**
 * Keys behind which an opening brace is missing: alone on their line, followed by deeper lines, and then by a closing
 * brace that is indented like the key. Only for a file in which a closing brace has no partner.
 */
export function keysWithoutBrace(text: string, all: readonly t.DefinitionToken[]): readonly t.DefinitionToken[] {
  const lines = linesOf(all);
  const found: t.DefinitionToken[] = [];
  let open: LoneKey[] = [];
  for (const [index, [first, ...others]] of lines.entries()) {
    if (first === undefined) continue;
    const indentation = indentationOf(text, first);
    const closed = first.tokenType === t.RightBrace ? open.find((key) => key.indentation === indentation) : undefined;
    if (closed !== undefined) found.push(closed.token);
    open = open.filter((key) => key.indentation < indentation);
    const next = lines[index + 1]?.[0];
    const isAlone = others.length === 0 && (first.tokenType === t.Identifier || t.KEYWORD_TYPES.has(first.image));
    if (
      isAlone &&
      next !== undefined &&
      indentation > 0 &&
      beginsEntry(next) &&
      indentationOf(text, next) > indentation
    ) {
      open.push({ token: first, indentation });
    }
  }
  return found;
}

function linesOf(all: readonly t.DefinitionToken[]): readonly (readonly t.DefinitionToken[])[] {
  const lines: t.DefinitionToken[][] = [];
  for (const token of all) {
    if (t.isTrivia(token.tokenType)) continue;
    if (token.onNewLine || lines.length === 0) lines.push([]);
    lines.at(-1)?.push(token);
  }
  return lines;
}

function beginsEntry({ tokenType, image }: t.DefinitionToken): boolean {
  return tokenType === t.Identifier || tokenType === t.QuotedString || t.KEYWORD_TYPES.has(image);
}

function indentationOf(text: string, token: t.DefinitionToken): number {
  return token.startOffset - (text.lastIndexOf('\n', token.startOffset) + 1);
}
