import { createLocalRuntime, failureOf } from '../../dev/local-runtime.ts';
import { Redactor } from '../../logging/redactor.ts';
import { serveStdio } from '../../server/doors/mcp/stdio.ts';
import { compileToRun } from '../compile-definitions.ts';
import { testSecrets } from '../definition-secrets.ts';
import type { Invocation } from '../invocation.ts';
import { packageInfo } from '../package-info.ts';
import { reportProblem, withInterrupts, type ExitCode } from '../terminal.ts';

/**
 * `svc mcp`: serves the functions over stdin and stdout to the program that started svc. Returns 0 when stdin closes or after an
 * interrupt, and 1 if the definitions have errors. Everything but the protocol goes to stderr.
 */
export async function mcpCommand({ config, terminal }: Invocation): Promise<ExitCode> {
  const compiled = compileToRun(config, terminal, 'the server did not start');
  if (!compiled.ok) return reportProblem(terminal, compiled.failure);
  const { program } = compiled.value;
  const redactor = new Redactor(testSecrets(config, program, []));
  const { env, onLoss, priceList: prices, requestTimeoutMs: timeoutMs } = config;
  const redact = (text: string): string => redactor.redactValues(text);
  const settings = { env, timeoutMs, onLoss, prices, redact };
  const parts = {
    runtime: createLocalRuntime(program, settings, { exposePrompts: false }),
    config,
    version: packageInfo().version,
    redactor,
    messageOf: (failure: Parameters<typeof failureOf>[0]) => failureOf(failure).message,
    report: (sentence: string) => void reportProblem(terminal, sentence),
  };
  return withInterrupts(async (interrupts) => {
    await serveStdio(program, parts, interrupts.next());
    return 0;
  });
}
