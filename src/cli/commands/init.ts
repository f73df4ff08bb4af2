import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_DIRECTORIES } from '../../config/config.ts';
import type { Invocation } from '../invocation.ts';
import { packageInfo } from '../package-info.ts';
import { reportProblem } from '../terminal.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

const ENV_EXAMPLE = `# Copy this file to .env and fill it in. svc reads .env when it starts.
# A variable that is set in the environment overrides the one in .env.

# If set, callers must send this key in the header x-svc-api-key.
#SVC_PASSWORD=

# Keys of the model providers that your clients use.
#OPENAI_API_KEY=
#ANTHROPIC_API_KEY=

# Every flag of "svc serve" has a variable. Run "svc serve --help" for the list.
#SVC_PORT=2024
#SVC_LOG_LEVEL=info
`;

/** `svc init`: writes sample definitions that need no key. Never overwrites a file. */
export function initCommand({ config, terminal }: Invocation): ExitCode {
  const directory = config.from ?? DEFAULT_DIRECTORIES[0];
  const obstacle = obstacleAt(directory);
  if (obstacle !== undefined) {
    return reportProblem(
      terminal,
      `"${directory}" ${obstacle}, so svc wrote nothing. Pass another directory as an argument.`,
    );
  }
  const samples = join(packageInfo().root, 'svc_src');
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(samples).toSorted()) {
    if (name.endsWith('.svc')) writeNew(join(directory, name), readFileSync(join(samples, name), 'utf8'), terminal);
  }
  writeNew('.env.example', ENV_EXAMPLE, terminal);
  const from = directory === DEFAULT_DIRECTORIES[0] ? '' : ` ${directory}`;
  terminal.out.write(`\nNext: run "svc serve${from}", then open http://localhost:2024/docs\n`);
  return 0;
}

/** Why samples cannot be written to the directory; undefined if it is empty or does not exist. */
function obstacleAt(directory: string): string | undefined {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isDirectory()) return 'is not a directory';
  return readdirSync(directory).length > 0 ? 'is not empty' : undefined;
}

/** The flag `wx` fails if the file exists, even if another process has only just created it. */
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
