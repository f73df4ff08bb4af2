import { codeFrame, COLOURED, type Paint, PLAIN, visible } from './code-frame.ts';
import type { Diagnostic, RelatedSpan } from './diagnostic.ts';
import type { Position, SourceFile } from './source-file.ts';
import type { Span } from './span.ts';

/*
 * The formats in which `svc check` reports diagnostics.
 */

/** The input of every report format. */
export interface ReportInput {
  readonly diagnostics: readonly Diagnostic[];
  /** Includes every file to which a span of the diagnostics refers. */
  readonly files: readonly SourceFile[];
}

/** Finds the file of a span, and the positions of its ends. */
export class SpanLocator {
  readonly #files: ReadonlyMap<string, SourceFile>;

  constructor(files: readonly SourceFile[]) {
    this.#files = new Map(files.map((file) => [file.path, file]));
  }

  file(span: Span): SourceFile | undefined {
    return this.#files.get(span.file);
  }

  /** Returns the beginning of the file if it is not among the files. */
  range(span: Span): { readonly start: Position; readonly end: Position } {
    const file = this.file(span);
    const first = { line: 1, column: 1 };
    return { start: file?.positionAt(span.start) ?? first, end: file?.positionAt(span.end) ?? first };
  }
}

// --- pretty ----------------------------------------------------------------------------------------------------------

/** For people: each problem with its place, the lines around it, what to do, and the other locator it has to do with. */
export function formatPretty(input: ReportInput, colour: boolean): string {
  const locator = new SpanLocator(input.files);
  const paint = colour ? COLOURED : PLAIN;
  return input.diagnostics.map((diagnostic) => `${describe(diagnostic, locator, paint)}\n`).join('\n');
}

function describe(diagnostic: Diagnostic, locator: SpanLocator, paint: Paint): string {
  const { severity, code, message, help, span, related } = diagnostic;
  const lines = [
    `${paint.severity(severity, severity)}${paint.dim(` ${code}`)} ${paint.bold(visible(message))}`,
    ...located(span, locator, paint, '^'),
  ];
  if (help !== undefined) lines.push(`   ${paint.dim('=')} ${visible(help).replaceAll('\n', '\n     ')}`);
  for (const other of related ?? []) lines.push(...alsoAt(other, locator, paint));
  return lines.join('\n');
}

function alsoAt({ span, message }: RelatedSpan, locator: SpanLocator, paint: Paint): readonly string[] {
  return [`   ${paint.dim('=')} ${visible(message)}:`, ...located(span, locator, paint, '-')];
}

function located(span: Span, locator: SpanLocator, paint: Paint, mark: '^' | '-'): readonly string[] {
  const { line, column } = locator.range(span).start;
  const file = locator.file(span);
  const place = `  ${paint.dim('-->')} ${visible(span.file)}:${String(line)}:${String(column)}`;
  return file === undefined ? [place] : [place, codeFrame(file, span, paint, mark)];
}

// --- JSON ------------------------------------------------------------------------------------------------------------

/** For programs: one object with all problems. Lines and columns start at 1; columns count UTF-16 units. */
export function formatJson(input: ReportInput): string {
  const locator = new SpanLocator(input.files);
  const place = (span: Span): object => ({ file: span.file, ...locator.range(span) });
  const diagnostics = input.diagnostics.map(({ severity, code, message, help, span, related }) => ({
    severity,
    code,
    message,
    help,
    ...place(span),
    related: related?.map((other) => ({ message: other.message, ...place(other.span) })),
  }));
  const errors = input.diagnostics.filter(({ severity }) => severity === 'error').length;
  return `${JSON.stringify({ errors, warnings: input.diagnostics.length - errors, diagnostics }, undefined, 2)}\n`;
}

// --- GitHub ----------------------------------------------------------------------------------------------------------

/**
 * Workflow commands, one per line. GitHub shows them next to the changed lines.
 * See "Workflow commands for GitHub Actions", section "Setting an error message".
 */
export function formatGithub(input: ReportInput): string {
  const locator = new SpanLocator(input.files);
  return input.diagnostics.map((diagnostic) => `${workflowCommand(diagnostic, locator)}\n`).join('');
}

function workflowCommand({ severity, code, message, help, span }: Diagnostic, locator: SpanLocator): string {
  const { start, end } = locator.range(span);
  const properties = [
    `file=${commandProperty(span.file)}`,
    `line=${String(start.line)}`,
    `endLine=${String(end.line)}`,
    // GitHub accepts columns only for a range within one line.
    ...(start.line === end.line ? [`col=${String(start.column)}`, `endColumn=${String(end.column)}`] : []),
    `title=${commandProperty(code)}`,
  ];
  return `::${severity} ${properties.join(',')}::${commandData(help === undefined ? message : `${message}\n${help}`)}`;
}

function commandData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function commandProperty(text: string): string {
  return commandData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

// --- SARIF -----------------------------------------------------------------------------------------------------------

const SARIF_SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** SARIF 2.1.0, the format of code scanning services. `version` is the version of svc. */
export function formatSarif(input: ReportInput, version: string): string {
  const locator = new SpanLocator(input.files);
  const errors = new Set(input.diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code));
  const codes = [...new Set(input.diagnostics.map(({ code }) => code))].toSorted();
  // In a block that svc does not run, an error is a warning, so a result can have a lower level than its rule.
  const rules = codes.map((id) => ({ id, defaultConfiguration: { level: errors.has(id) ? 'error' : 'warning' } }));
  const run = {
    tool: { driver: { name: 'svc', version, rules } },
    columnKind: 'utf16CodeUnits',
    results: input.diagnostics.map((diagnostic) => sarifResult(diagnostic, codes, locator)),
  };
  return `${JSON.stringify({ $schema: SARIF_SCHEMA, version: '2.1.0', runs: [run] }, undefined, 2)}\n`;
}

function sarifResult(diagnostic: Diagnostic, codes: readonly string[], locator: SpanLocator): object {
  const { code, severity, message, help, span, related } = diagnostic;
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: help === undefined ? message : `${message} ${help}` },
    locations: [sarifLocation(span, locator)],
    ...(related !== undefined && {
      relatedLocations: related.map((other) => ({
        ...sarifLocation(other.span, locator),
        message: { text: other.message },
      })),
    }),
  };
}

function sarifLocation(span: Span, locator: SpanLocator): object {
  const { start, end } = locator.range(span);
  return {
    physicalLocation: {
      artifactLocation: { uri: span.file.split('/').map(encodeURIComponent).join('/') },
      region: {
        startLine: start.line,
        startColumn: start.column,
        endLine: end.line,
        endColumn: end.column,
      },
    },
  };
}
