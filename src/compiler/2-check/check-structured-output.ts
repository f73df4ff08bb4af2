import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import { structuredClients, structuresOf } from '../../schema/structured-clients.ts';
import type { CheckContext } from './check-context.ts';

/**
 * A client with `structured_output` has a form for it, and its provider takes the return types of its functions. Otherwise
 * only the prompt describes the reply, which deserves a warning, because the definitions ask for more.
 */
export function checkStructuredOutput(context: CheckContext, index: DefinitionIndex): void {
  for (const { name } of index.clients.values()) {
    const structure = structuresOf(name, index).get(name);
    const node = context.scope.clients.get(name);
    if (structure?.kind !== 'unavailable' || node === undefined) continue;
    context.report('check/unstructured-client', node.name.span, { name, reason: structure.reason });
  }
  for (const fn of index.functions.values()) checkFunction(context, index, fn);
}

/** Clients with the same limits have the same problem. */
function checkFunction({ scope, report }: CheckContext, index: DefinitionIndex, fn: FunctionType): void {
  const node = scope.functions.get(fn.name);
  if (node === undefined) return;
  const clientsOf = new Map<string, string[]>();
  for (const { client, problem } of structuredClients(fn, index)) {
    if (problem !== undefined) clientsOf.set(problem, [...(clientsOf.get(problem) ?? []), client]);
  }
  for (const [reason, [client = '']] of clientsOf) {
    report('check/unstructured-type', node.returns?.span ?? node.name.span, { name: fn.name, client, reason });
  }
}
