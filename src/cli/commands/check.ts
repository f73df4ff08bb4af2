import { Command, Option } from 'commander';
import { formatGithub } from '../../diagnostics/report/format-github.ts';
import { formatJson } from '../../diagnostics/report/format-json.ts';
import { formatSarif } from '../../diagnostics/report/format-sarif.ts';
import type { Compiled } from '../compile-definitions.ts';
import { compileDefinitions } from '../compile-definitions.ts';
import { COMPILE_SETTINGS, loadSettings } from '../load-settings.ts';
import { packageInfo } from '../package-info.ts';
import { prettyReport, summaryLine } from '../pretty-report.ts';
import { addSettingOptions } from '../setting-options.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

const FORMATS = ['pretty', 'json', 'github', 'sarif'] as const;

/** `svc check`: every problem of the definition files, in a form for people, editors or CI. */
export function checkCommand(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const command = new Command('check')
    .description('report every problem in the definition files')
    .addOption(new Option('--format <name>', 'form of the report').choices(FORMATS).default('pretty'));
  return addSettingOptions(command, COMPILE_SETTINGS).action(() => {
    finish(check(command, terminal));
  });
}

function check(command: Command, terminal: Terminal): ExitCode {
  const settings = loadSettings(command, COMPILE_SETTINGS, terminal);
  if ('code' in settings) return settings.code;
  const compiled = compileDefinitions(settings.config);
  if (!compiled.ok) {
    terminal.error.write(`svc: ${compiled.failure}\n`);
    return 1;
  }
  const format = FORMATS.find((name) => name === command.getOptionValue('format')) ?? 'pretty';
  terminal.out.write(report(compiled.value, format, terminal.out.colour));
  return compiled.value.diagnostics.some((diagnostic) => diagnostic.severity === 'error') ? 1 : 0;
}

function report(compiled: Compiled, format: (typeof FORMATS)[number], colour: boolean): string {
  switch (format) {
    case 'pretty':
      return `${prettyReport(compiled, { colour, everyWarning: true })}${summaryLine(compiled)}\n`;
    case 'json':
      return formatJson(compiled);
    case 'github':
      return formatGithub(compiled);
    case 'sarif':
      return formatSarif(compiled, packageInfo().version);
  }
}
