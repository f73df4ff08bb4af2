import { ok } from '../base/result.ts';
import type { SourceFile } from '../diagnostics/source-file.ts';
import type { Program } from '../schema/program.ts';
import { definitionsOfArguments, type TypeOutcome, type TypeRequest } from '../schema/type-extension.ts';
import { ValidatorCompiler } from './3-emit/validator-compiler.ts';
import { TypeCompiler } from './compile-types.ts';

/** Compiles the types of requests in this process. `files`: those of the program. */
export function createTypeSource(
  program: Program,
  files: readonly SourceFile[],
): (request: TypeRequest) => TypeOutcome {
  const compiler = new TypeCompiler(files);
  return ({ functionName, builder }) => {
    const compiled = compiler.compile(JSON.parse(builder), functionName);
    if (!compiled.ok) return compiled;
    const extension = JSON.stringify(compiled.value);
    const changed = definitionsOfArguments(program, compiled.value, functionName);
    if (changed === undefined) return ok({ extension });
    return ok({ extension, validators: new ValidatorCompiler(changed).source(functionName) });
  };
}
