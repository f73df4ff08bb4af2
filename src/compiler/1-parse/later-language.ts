import { parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import * as t from './tokens.ts';

const CONSTRUCTOR = /[ \t]*\w+(?:\.\w+)*\.new\s*\(/y;

/**
 * Returns one error for a file in the language of BAML v1, at the first construct that v0 does not have: `client X = a.B.new(…)`,
 * or a prompt in backticks after a colon.
 */
export function laterLanguage(file: SourceFile, tokens: readonly t.DefinitionToken[]): Diagnostic | undefined {
  const sign = tokens.find((token, index) => isSign(file.text, token, tokens[index + 1], tokens[index + 2]));
  if (sign === undefined) return undefined;
  const span = { file: file.path, start: sign.startOffset, end: sign.startOffset + sign.image.length };
  return parseDiagnostic('parse/later-language', span, {});
}

function isSign(
  text: string,
  { image, depth, onNewLine }: t.DefinitionToken,
  second: t.DefinitionToken | undefined,
  third: t.DefinitionToken | undefined,
): boolean {
  if (!onNewLine || second === undefined || third === undefined) return false;
  if (image === 'prompt') return depth === 1 && second.image === ':' && third.image.startsWith('`');
  if (image !== 'client' || depth > 0 || third.tokenType !== t.Equals) return false;
  CONSTRUCTOR.lastIndex = third.startOffset + 1;
  return CONSTRUCTOR.test(text);
}

/** Adds a note about BAML v1 to the first of several errors about fields in the form `name: Type,`, which other languages share. */
export function withLanguageNote(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const colons = diagnostics.filter(({ code }) => code === 'parse/colon-after-name');
  const commas = diagnostics.filter(
    ({ code, message }) => code === 'parse/separator-in-block' && message.includes('","'),
  );
  const [first] = colons;
  if (first === undefined || colons.length < 2 || commas.length < 2) return diagnostics;
  const help = `${first.help ?? ''} The file may be in the language of BAML v1, but svc reads only that of v0.`;
  return diagnostics.map((diagnostic) => (diagnostic === first ? { ...diagnostic, help } : diagnostic));
}
