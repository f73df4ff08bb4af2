import type { Diagnostic } from '../diagnostic.ts';
import type { Span } from '../span.ts';
import { SpanLocator, type ReportInput } from './report-input.ts';

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

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
    results: input.diagnostics.map((diagnostic) => result(diagnostic, codes, locator)),
  };
  return `${JSON.stringify({ $schema: SCHEMA, version: '2.1.0', runs: [run] }, undefined, 2)}\n`;
}

function result(diagnostic: Diagnostic, codes: readonly string[], locator: SpanLocator): object {
  const { code, severity, message, help, span, related } = diagnostic;
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: help === undefined ? message : `${message} ${help}` },
    locations: [location(span, locator)],
    ...(related !== undefined && {
      relatedLocations: related.map((other) => ({
        ...location(other.span, locator),
        message: { text: other.message },
      })),
    }),
  };
}

function location(span: Span, locator: SpanLocator): object {
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
