import { Command } from 'commander';
import { ProcessSignals } from '../../server/process-signals.ts';
import { SERVE_SETTINGS } from '../load-settings.ts';
import { addSettingOptions } from '../setting-options.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** `svc serve`: compile, bind, publish; in this order, so that nothing is bound for definitions with errors. */
export function serveCommand(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const command = new Command('serve').description('serve the functions of the definition files over HTTP');
  return addSettingOptions(command, SERVE_SETTINGS).action(async () => {
    const signals = new ProcessSignals();
    // Compiler and server take half a second to load, which help and usage need not wait for.
    const { serveDefinitions } = await import('./serve-definitions.ts');
    finish(await serveDefinitions(command, terminal, signals));
  });
}
