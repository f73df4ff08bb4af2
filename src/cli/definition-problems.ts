import { codeFrame, PLAIN, visible } from '../diagnostics/code-frame.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { SpanLocator, type ReportInput } from '../diagnostics/report/report-input.ts';
import type { DefinitionProblem } from '../schema/definition-problem.ts';

/** A page with more errors hides the first ones. */
const MOST = 20;

/** The first errors of a compilation, with their code frames. */
export function definitionProblems({ diagnostics, files }: ReportInput): readonly DefinitionProblem[] {
  const locator = new SpanLocator(files);
  return diagnostics
    .filter(({ severity }) => severity === 'error')
    .slice(0, MOST)
    .map((diagnostic) => problemOf(diagnostic, locator));
}

function problemOf({ code, help, message, span }: Diagnostic, locator: SpanLocator): DefinitionProblem {
  const { line, column } = locator.range(span).start;
  const file = locator.file(span);
  return {
    code,
    message: visible(message),
    place: `${visible(span.file)}:${String(line)}:${String(column)}`,
    ...(help !== undefined && { help: visible(help) }),
    ...(file !== undefined && { frame: codeFrame(file, span, PLAIN) }),
  };
}
