import { yamlPackage } from '../../config/yaml-package.ts';
import { compileDefinitions } from '../compile-definitions.ts';
import type { Invocation } from '../invocation.ts';
import { prettyReport } from '../pretty-report.ts';
import { reportProblem } from '../terminal.ts';
import type { ExitCode } from '../terminal.ts';

/** `svc openapi`: prints the document that `/openapi.json` serves. Returns 1 if errors in the definitions prevent that. */
export function openapiCommand({ config, options, terminal }: Invocation): ExitCode {
  const compiled = compileDefinitions(config);
  if (!compiled.ok) return reportProblem(terminal, compiled.failure);
  const { program } = compiled.value;
  if (program === undefined) {
    terminal.error.write(prettyReport(compiled.value, { colour: terminal.error.colour, everyWarning: false }));
    return 1;
  }
  // Anchors are valid YAML, but several client generators do not resolve them.
  const yamlOptions = { aliasDuplicateObjects: false, lineWidth: 0 };
  const text =
    options['format'] === 'yaml'
      ? yamlPackage().stringify(program.openapi, yamlOptions)
      : `${JSON.stringify(program.openapi, null, 2)}\n`;
  terminal.out.write(text);
  return 0;
}
