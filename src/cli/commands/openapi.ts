import { yamlPackage } from '../../config/read-yaml.ts';
import { compileOrReport } from '../compile-definitions.ts';
import type { Invocation } from '../invocation.ts';
import type { ExitCode } from '../terminal.ts';

/**
 * `svc openapi`: prints the document that `/openapi.json` serves, with the URLs of `--server`: a file has no server to which its
 * paths are relative. Returns 1 if errors in the definitions prevent that.
 */
export function openapiCommand(invocation: Invocation): ExitCode {
  const program = compileOrReport(invocation);
  if (program === undefined) return 1;
  const { options, terminal } = invocation;
  const servers = (options['server'] ?? []) as readonly string[];
  const { basePath } = invocation.config;
  const document = {
    ...program.openapi,
    ...(servers.length > 0 && { servers: servers.map((url) => ({ url: withBase(url, basePath) })) }),
  };
  // Anchors are valid YAML, but several client generators do not resolve them.
  const yamlOptions = { aliasDuplicateObjects: false, lineWidth: 0 };
  const text =
    options['format'] === 'yaml'
      ? yamlPackage().stringify(document, yamlOptions)
      : `${JSON.stringify(document, null, 2)}\n`;
  terminal.out.write(text);
  return 0;
}

/** A URL with a path of its own states where callers find the server, such as behind a gateway. */
function withBase(url: string, basePath: string): string {
  return new URL(url).pathname === '/' ? url + basePath : url;
}
