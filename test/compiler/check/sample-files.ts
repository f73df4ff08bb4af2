import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { checkSources } from '../../../src/compiler/compile.ts';
import type { CompileOptions } from '../../../src/compiler/compile-options.ts';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { formatPretty } from '../../../src/diagnostics/report-formats.ts';
import type { Definitions } from '../../../src/schema/program.ts';
import { printDefinitions } from './print-definitions.ts';

const SAMPLES = fileURLToPath(new URL('../samples', import.meta.url));

export const OPTIONS: CompileOptions = { version: '0.1.0', versionCheck: true, beta: false, apiKey: false };

export interface Sample {
  readonly name: string;
  readonly directory: string;
  readonly file: SourceFile;
}

/** Returns the sample folders of a kind, each with its `input.svc`. */
export function samples(kind: 'invalid' | 'valid'): readonly Sample[] {
  const root = join(SAMPLES, kind);
  return readdirSync(root)
    .toSorted()
    .map((name) => {
      const directory = join(root, name);
      return { name, directory, file: new SourceFile('input.svc', readFileSync(join(directory, 'input.svc'), 'utf8')) };
    });
}

export interface Outcome {
  readonly diagnostics: readonly Diagnostic[];
  readonly definitions?: Definitions;
}

/** Parses and checks one file. */
export function checkFile(file: SourceFile, options: CompileOptions = OPTIONS): Outcome {
  return checkSources([file], options);
}

export function checkText(text: string, options?: CompileOptions): Outcome {
  return checkFile(new SourceFile('input.svc', text), options);
}

export function report(file: SourceFile, diagnostics: readonly Diagnostic[]): string {
  return formatPretty({ files: [file], diagnostics }, false);
}

/** Returns the codes of the warnings as comments, followed by the definitions with resolved names. */
export function printed({ definitions, diagnostics }: Outcome): string {
  const warnings = diagnostics.map(({ code }) => `// warning: ${code}\n`).join('');
  return warnings + (definitions === undefined ? '' : printDefinitions(definitions));
}

/** Returns the definitions as data, without positions and expressions, and without the reasons for which some cannot be read. */
export function resolved(definitions: Definitions | undefined): unknown {
  return JSON.parse(JSON.stringify(definitions ?? {}, (key, value: unknown) => (PARSED.has(key) ? undefined : value)));
}

const PARSED = new Set(['prompt', 'template', 'expression', 'unreadable']);
