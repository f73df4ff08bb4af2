import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Definitions } from '../../schema/program.ts';
import type { DocumentNode } from '../1-parse/syntax-nodes.ts';
import type { CompileOptions } from '../compile-options.ts';
import { buildDefinitions } from './build-definitions.ts';
import { CheckContext } from './check-context.ts';
import { checkTemplates } from './check-templates.ts';
import { typeSize } from './rules/type-size.ts';
import { RULES } from './rules.ts';

export interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  /** To be used only when no diagnostic is an error; absent when types were too large to be built. */
  readonly definitions?: Definitions;
}

/** Applies every law to the definitions of all files together, and resolves names and types. Never throws. */
export function check(documents: readonly DocumentNode[], options: CompileOptions): Checked {
  const context = new CheckContext(documents, options);
  typeSize(context);
  if (context.diagnostics.length > 0) return { diagnostics: context.diagnostics };
  for (const rule of RULES) rule(context);
  const definitions = buildDefinitions(context);
  checkTemplates(context, definitions);
  return { definitions, diagnostics: [...context.diagnostics, ...context.templates.diagnostics] };
}
