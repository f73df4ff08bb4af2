import type { Severity } from './diagnostic.ts';

/** How parts of a report look on a terminal. */
export interface Paint {
  severity(severity: Severity, text: string): string;
  mark(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

export const PLAIN: Paint = { severity: (_severity, text) => text, mark: same, dim: same, bold: same };

/** With the colours that every terminal has. */
export const COLOURED: Paint = {
  severity: (severity, text) => sequence(severity === 'error' ? '1;31' : '1;33', text),
  mark: (text) => sequence('31', text),
  dim: (text) => sequence('2', text),
  bold: (text) => sequence('1', text),
};

function same(text: string): string {
  return text;
}

function sequence(code: string, text: string): string {
  return `\u001B[${code}m${text}\u001B[0m`;
}
