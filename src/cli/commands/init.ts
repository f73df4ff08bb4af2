import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { SettingKey } from '../../config/settings.ts';
import { loadSettings } from '../load-settings.ts';
import { packageInfo } from '../package-info.ts';
import { addSettingOptions } from '../setting-options.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

const INIT_SETTINGS: readonly SettingKey[] = ['from'];

const ENV_EXAMPLE = `# Copy to .env and fill in. svc reads it at start; a variable that is really set wins over it.

# Callers then have to send this as the header x-svc-api-key.
#SVC_PASSWORD=

# Keys of the model providers that your clients name.
#OPENAI_API_KEY=
#ANTHROPIC_API_KEY=

# Every flag of "svc serve" has a variable, see "svc serve --help".
#SVC_PORT=2024
#SVC_LOG_LEVEL=info
`;

/** `svc init`: a small set of definitions that answers without a key. Overwrites nothing. */
export function initCommand(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const command = new Command('init').description('write sample definitions and a .env.example');
  return addSettingOptions(command, INIT_SETTINGS).action(() => {
    const settings = loadSettings(command, INIT_SETTINGS, terminal);
    finish('code' in settings ? settings.code : init(settings.config.from, terminal));
  });
}

function init(directory: string, terminal: Terminal): ExitCode {
  const obstacle = obstacleAt(directory);
  if (obstacle !== undefined) {
    terminal.error.write(`svc: "${directory}" ${obstacle}, so nothing was written. Name another one with --from.\n`);
    return 1;
  }
  const samples = join(packageInfo().root, 'svc_src');
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(samples).toSorted()) {
    if (name.endsWith('.svc')) writeNew(join(directory, name), readFileSync(join(samples, name), 'utf8'), terminal);
  }
  writeNew('.env.example', ENV_EXAMPLE, terminal);
  const from = directory === './svc_src' ? '' : ` --from ${directory}`;
  terminal.out.write(`\nNext: svc serve${from}, then open http://localhost:2024/docs\n`);
  return 0;
}

/** Why the directory cannot take samples; undefined when it is empty or not there. */
function obstacleAt(directory: string): string | undefined {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isDirectory()) return 'is not a directory';
  return readdirSync(directory).length > 0 ? 'is not empty' : undefined;
}

/** The flag `wx` fails for a file that exists, also for one that appeared just now. */
function writeNew(path: string, text: string, terminal: Terminal): void {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    terminal.out.write(`wrote ${path}\n`);
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw error;
    terminal.out.write(`kept ${path}\n`);
  }
}
