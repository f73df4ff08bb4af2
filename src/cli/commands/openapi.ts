import { yamlPackage } from '../../config/read-yaml.ts';
import { compileOrReport } from '../compile-definitions.ts';
import type { Invocation } from '../invocation.ts';
import type { ExitCode } from '../terminal.ts';

/** `svc openapi`: prints the document that `/openapi.json` serves. Returns 1 if errors in the definitions prevent that. */
export function openapiCommand(invocation: Invocation): ExitCode {
  const program = compileOrReport(invocation);
  if (program === undefined) return 1;
  const { options, terminal } = invocation;
  // Anchors are valid YAML, but several client generators do not resolve them.
  const yamlOptions = { aliasDuplicateObjects: false, lineWidth: 0 };
  const text =
    options['format'] === 'yaml'
      ? yamlPackage().stringify(program.openapi, yamlOptions)
      : `${JSON.stringify(program.openapi, null, 2)}\n`;
  terminal.out.write(text);
  return 0;
}
