import { isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Position, Range } from 'vscode-languageserver/node';
import type { DeclarationNode, DocumentNode } from '../../compiler/1-parse/syntax-nodes.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import type { Span } from '../../diagnostics/span.ts';

/**
 * Returns the path of a file's URI, the same for every way of encoding it; the URI itself for a document that is not a file, such as an
 * unsaved one.
 */
export function pathOf(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}

export function uriOf(path: string): string {
  return isAbsolute(path) ? pathToFileURL(path).href : path;
}

/** An offset of the file as the protocol counts: lines and UTF-16 units from 0. */
export function positionOf(file: SourceFile, offset: number): Position {
  const { line, column } = file.positionAt(Math.min(offset, file.text.length));
  return { line: line - 1, character: column - 1 };
}

export function rangeOf(file: SourceFile, { start, end }: Pick<Span, 'start' | 'end'>): Range {
  return { start: positionOf(file, start), end: positionOf(file, end) };
}

/** A position after the end of its line means the end of the line. */
export function offsetAt(file: SourceFile, { line, character }: Position): number {
  const start = file.lineStarts[line];
  if (start === undefined) return file.text.length;
  const next = file.lineStarts[line + 1];
  const end = next === undefined ? file.text.length : next - (file.text[next - 2] === '\r' ? 2 : 1);
  return Math.min(start + character, end);
}

/** True if the offset is in the span or at one of its ends, where the caret of an editor touches it. */
export function touches({ start, end }: Pick<Span, 'start' | 'end'>, offset: number): boolean {
  return start <= offset && offset <= end;
}

/** Returns the definition that contains or touches an offset. */
export function declarationAt({ declarations }: DocumentNode, offset: number): DeclarationNode | undefined {
  return declarations.find(({ span }) => touches(span, offset));
}
