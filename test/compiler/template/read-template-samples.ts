import { readFileSync } from 'node:fs';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';

/** Reads samples: `=== title`, a template, `---`, and one line for each diagnostic. */
export interface TemplateSample {
  readonly title: string;
  readonly template: string;
  readonly expected: string;
}

export function readTemplateSamples(name: string): readonly TemplateSample[] {
  const text = readFileSync(new URL(`samples/${name}`, import.meta.url), 'utf8');
  return text
    .split(/^=== /mu)
    .slice(1)
    .map((sample) => {
      const [head = '', expected = ''] = sample.split('\n---\n');
      const lineBreak = head.indexOf('\n');
      return { title: head.slice(0, lineBreak), template: head.slice(lineBreak + 1), expected: expected.trim() };
    });
}

/** Prints diagnostics in source order, each with the text at its position. */
export function showDiagnostics(diagnostics: readonly Diagnostic[], text: string): string {
  return diagnostics
    .toSorted((a, b) => a.span.start - b.span.start)
    .map(({ severity, code, message, help, span }) => {
      const at = JSON.stringify(text.slice(span.start, span.end));
      return `${severity} ${code} at ${at}: ${[message, help].filter((part) => part !== undefined).join(' ')}`;
    })
    .join('\n');
}
