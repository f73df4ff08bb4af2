import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type Definitions, type TestType, indexDefinitions } from '../../schema/program.ts';
import type { DocumentNode } from '../1-parse/syntax-nodes.ts';
import type { CompileOptions } from '../compile-options.ts';
import { lenient } from '../1-parse/lenient.ts';
import { CheckContext } from './check-context.ts';
import { structuredClients } from '../../schema/structured-output.ts';
import { checkTemplates, checkTestConditions } from './templates/check-templates.ts';
import { buildDefinitions, buildTest } from './build-definitions.ts';
import { RULES } from './rules.ts';

export interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  /** Valid only if no diagnostic is an error; absent if a type is too large to build. */
  readonly definitions?: Definitions;
  /** The `test` blocks, in the order of files and lines. */
  readonly tests: readonly TestType[];
}

/** Applies every rule to the definitions of all files together, and resolves names and types. Never throws. */
export function check(documents: readonly DocumentNode[], options: CompileOptions): Checked {
  const context = new CheckContext(documents, options);
  for (const rule of RULES.size) rule(context);
  if (context.diagnostics.length > 0) return { diagnostics: lenient(context.diagnostics, documents), tests: [] };
  for (const rule of RULES.definitions) rule(context);
  const definitions = buildDefinitions(context);
  const built = context.scope.tests.map((node) => buildTest(node, context));
  const index = indexDefinitions(definitions);
  const clientsOf = new Map(definitions.functions.map((fn) => [fn.name, structuredClients(fn, index)]));
  checkTemplates(context, definitions, { index, clientsOf });
  for (const rule of RULES.clients) rule(context, index, clientsOf);
  checkTestConditions(context, definitions, built);
  const diagnostics = [...context.diagnostics, ...context.templates.diagnostics];
  return { definitions, tests: built, diagnostics: lenient(diagnostics, documents) };
}
