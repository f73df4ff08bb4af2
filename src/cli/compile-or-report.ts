import type { Program } from '../schema/program.ts';
import { compileDefinitions } from './compile-definitions.ts';
import type { Invocation } from './invocation.ts';
import { prettyReport } from './pretty-report.ts';
import { reportProblem } from './terminal.ts';

/** Compiles the definitions of a command that prints a part of the program. If they have errors, prints these and returns undefined. */
export function compileOrReport({ config, terminal }: Invocation): Program | undefined {
  const compiled = compileDefinitions(config);
  if (!compiled.ok) {
    reportProblem(terminal, compiled.failure);
    return undefined;
  }
  const { program } = compiled.value;
  if (program === undefined) {
    terminal.error.write(prettyReport(compiled.value, { colour: terminal.error.colour, everyWarning: false }));
  }
  return program;
}
