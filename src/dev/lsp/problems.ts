import {
  type CodeAction,
  CodeActionKind,
  type Diagnostic as ProtocolDiagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  type Range,
} from 'vscode-languageserver/node';
import type { Diagnostic, Fix } from '../../diagnostics/diagnostic.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import type { EditedProgram } from './edited-program.ts';
import { locationOf } from './navigation.ts';
import { offsetAt, rangeOf } from './places.ts';
import type { Workspace } from './workspace.ts';

const SOURCE = 'svc';

/** The diagnostics of every file of a program, by path. A file without problems has an empty list. */
export function problemsByFile(
  program: EditedProgram,
  workspace: Workspace,
): ReadonlyMap<string, readonly ProtocolDiagnostic[]> {
  const problems = new Map<string, ProtocolDiagnostic[]>(program.paths.map((path) => [path, []]));
  for (const diagnostic of program.analysis().diagnostics) {
    const file = program.file(diagnostic.span.file);
    if (file !== undefined) problems.get(file.path)?.push(protocolDiagnostic(diagnostic, file, { program, workspace }));
  }
  for (const [path, reason] of program.unreadable) problems.get(path)?.push(unreadable(reason));
  return problems;
}

function protocolDiagnostic(
  { code, severity, message, help, span, related = [] }: Diagnostic,
  file: SourceFile,
  { program, workspace }: { readonly program: EditedProgram; readonly workspace: Workspace },
): ProtocolDiagnostic {
  const others = related.flatMap((other) => {
    const location = locationOf(workspace, program, other.span);
    return location === undefined ? [] : [{ location, message: other.message }];
  });
  return {
    range: rangeOf(file, span),
    severity: severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    code,
    source: SOURCE,
    message: help === undefined ? message : `${message}\n${help}`,
    ...(/\/unused-/u.test(code) && { tags: [DiagnosticTag.Unnecessary] }),
    ...(others.length > 0 && { relatedInformation: others }),
  };
}

function unreadable(reason: string): ProtocolDiagnostic {
  const start = { line: 0, character: 0 };
  const message = `${reason}.`;
  return { range: { start, end: start }, severity: DiagnosticSeverity.Error, source: SOURCE, message };
}

/** The corrections of the problems that overlap a range. */
export function quickFixes(
  program: EditedProgram,
  workspace: Workspace,
  path: string,
  range: Range,
): readonly CodeAction[] {
  const file = program.file(path);
  if (file === undefined) return [];
  const [start, end] = [offsetAt(file, range.start), offsetAt(file, range.end)];
  return program.analysis().diagnostics.flatMap((diagnostic) => {
    const { fix, span } = diagnostic;
    const target = fix && program.file(fix.span.file);
    if (fix === undefined || target === undefined || span.file !== path || span.end < start || span.start > end)
      return [];
    return {
      title: titleOf(fix, target),
      kind: CodeActionKind.QuickFix,
      isPreferred: true,
      diagnostics: [protocolDiagnostic(diagnostic, file, { program, workspace })],
      edit: {
        changes: { [workspace.uriOf(target.path)]: [{ range: rangeOf(target, fix.span), newText: fix.text }] },
      },
    };
  });
}

/** More of the text would not fit into a menu. */
const LONGEST_TITLE = 60;

function titleOf({ span, text }: Fix, file: SourceFile): string {
  if (text === '') return `Remove ${quoted(file.text.slice(span.start, span.end))}`;
  return `${span.start === span.end ? 'Insert' : 'Change to'} ${quoted(text)}`;
}

function quoted(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  const short = line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE)}…` : line;
  return short.startsWith('"') ? short : `"${short}"`;
}
