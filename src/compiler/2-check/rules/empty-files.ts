import { isTrivia } from '../../1-parse/tokens.ts';
import { tokenize } from '../../1-parse/tokenize.ts';
import type { Rule } from '../check-context.ts';

/** A file contains a definition. An empty one, or one with only comments, is usually not saved yet, or a leftover. */
export const emptyFiles: Rule = ({ documents, report }) => {
  for (const { file, declarations } of documents) {
    if (declarations.length > 0 || !tokenize(file.text).every(({ tokenType }) => isTrivia(tokenType))) continue;
    report('check/empty-file', { file: file.path, start: 0, end: 0 }, { file: file.path });
  }
};
