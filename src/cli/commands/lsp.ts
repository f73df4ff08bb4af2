import { serveLanguage } from '../../dev/lsp/language-server.ts';
import { Redactor } from '../../logging/redactor.ts';
import type { Definitions, TestType } from '../../schema/program.ts';
import { compileOptions } from '../compile-definitions.ts';
import { testSecrets } from '../definition-secrets.ts';
import type { Invocation } from '../invocation.ts';
import { reportProblem, withoutSecrets, type ExitCode } from '../terminal.ts';

/**
 * `svc lsp`: serves the Language Server Protocol over stdin and stdout to the editor that started svc, which names the definitions. The
 * process ends with 0 after `shutdown` and `exit`, and with 1 if stdin closes before. Everything but the protocol goes to stderr.
 */
export function lspCommand({ config, terminal }: Invocation): Promise<ExitCode> {
  const { env, onLoss, priceList: prices, requestTimeoutMs: timeoutMs } = config;
  const settings = {
    compile: compileOptions(config),
    render: {
      env,
      onLoss,
      prices,
      timeoutMs,
      redactor: (program: Definitions, tests: readonly TestType[]) => {
        const redactor = new Redactor(testSecrets(config, program, tests));
        return (text: string): string => redactor.redactValues(text);
      },
    },
    report: (problem: string) => void reportProblem(terminal, withoutSecrets(problem)),
  };
  serveLanguage(settings, { input: process.stdin, output: process.stdout });
  // The protocol ends the process.
  return new Promise<never>(() => {});
}
