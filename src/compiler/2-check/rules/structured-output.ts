import type { DefinitionIndex } from '../../../schema/program.ts';
import { structuresOf, type StructuredClient } from '../../../schema/structured-output.ts';
import type { CheckContext } from '../check-context.ts';

/**
 * Warns about a client with `structured_output` that has no form for it, or whose provider does not support the return type of a
 * function. Only the prompt then describes the reply, although the definitions ask for more.
 */
export function checkStructuredOutput(
  context: CheckContext,
  index: DefinitionIndex,
  clientsOf: ReadonlyMap<string, readonly StructuredClient[]>,
): void {
  for (const { name } of index.clients.values()) {
    const structure = structuresOf(name, index).get(name);
    const node = context.scope.clients.get(name);
    if (structure?.kind !== 'unavailable' || node === undefined) continue;
    context.report('check/unstructured-client', node.name.span, { name, reason: structure.reason });
  }
  for (const [name, clients] of clientsOf) checkFunction(context, name, clients);
}

/** Clients with the same limits have the same problem. */
function checkFunction({ scope, report }: CheckContext, name: string, clients: readonly StructuredClient[]): void {
  const node = scope.functions.get(name);
  if (node === undefined) return;
  const firstWith = new Map<string, string>();
  for (const { client, problem } of clients) {
    if (problem !== undefined && !firstWith.has(problem)) firstWith.set(problem, client);
  }
  for (const [reason, client] of firstWith) {
    report('check/unstructured-type', node.returns?.span ?? node.name.span, { name, client, reason });
  }
}
