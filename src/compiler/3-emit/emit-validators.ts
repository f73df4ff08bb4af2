import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import { AmbiguousRecursion } from './ambiguous-recursion.ts';
import { ArgumentSchemas } from './argument-schema.ts';

/**
 * The source of `Program.validatorSource`: a CommonJS module with one predicate per function, by its name. Functions
 * whose types would make a predicate's time explode (see AmbiguousRecursion) have none: the walk of the serving plane,
 * which remembers what it has seen, checks their arguments alone.
 */
export function emitValidators(index: DefinitionIndex): string {
  try {
    return compilePredicates(index);
  } catch (error) {
    // The library compiles references by recursion: a chain of more than about a thousand classes is too long for it.
    if (error instanceof RangeError) return '';
    throw error;
  }
}

function compilePredicates(index: DefinitionIndex): string {
  const schemas = new ArgumentSchemas(index);
  const ambiguous = new AmbiguousRecursion(index);
  const ajv = createAjv();
  for (const schema of schemas.shared()) ajv.addSchema(schema);
  const exported: Record<string, string> = {};
  // Many functions take the same arguments, often one text: they share a predicate.
  const ids = new Map<string, string>();
  for (const fn of index.functions.values()) {
    if (ambiguous.reachableFrom(fn)) continue;
    const signature = schemas.signature(fn);
    const key = JSON.stringify(signature);
    const id = ids.get(key) ?? `f${ids.size}`;
    if (!ids.has(key)) ajv.addSchema({ $id: id, ...signature });
    ids.set(key, id);
    exported[fn.name] = id;
  }
  return standalone.default(ajv, exported);
}

function createAjv(): Ajv {
  return new Ajv({
    // ownProperties: a parameter may be called `constructor`, and only the caller's own keys count.
    ownProperties: true,
    messages: false,
    inlineRefs: false,
    // Long enums as plain comparisons: the loop needs a deep-equal library at run time.
    loopEnum: Number.MAX_SAFE_INTEGER,
    strictTypes: false,
    validateSchema: false,
    logger: false,
    // The optimizer takes as long as all the rest and saves less than half a microsecond per call.
    code: { source: true, optimize: false },
  });
}
