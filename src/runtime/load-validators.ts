import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { invariant } from '../base/invariant.ts';

/** True when the argument object fits the function's signature. */
export type ArgumentPredicate = (args: unknown) => boolean;

/** The small files that compiled predicates may ask for; nothing else of the library is loaded. */
const RUNTIME_FILE = /^ajv\/dist\/runtime\/[a-z0-9_]+$/u;

/**
 * Loads the module that the compiler emitted as `Program.validatorSource`: the predicates by function name. Functions
 * that it holds no predicate for are checked by the walk alone. Throws InternalError when the module asks for a file
 * it has no business with.
 */
export function loadValidators(source: string): ReadonlyMap<string, ArgumentPredicate> {
  const exported: Record<string, ArgumentPredicate> = Object.create(null);
  compileFunction(source, ['exports', 'require'], { filename: 'svc-validators.cjs' })(exported, requireRuntimeFile);
  return new Map(Object.entries(exported));
}

function requireRuntimeFile(name: string): unknown {
  invariant(RUNTIME_FILE.test(name), `compiled validators ask for "${name}"`);
  return createRequire(import.meta.url)(name);
}
