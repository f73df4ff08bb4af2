import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, invariant } from '../../base/invariant.ts';
import { compile } from '../../compiler/compile.ts';
import { isDefinitionFile, readSources } from '../../compiler/read-sources.ts';
import { DEFAULT_DIRECTORIES } from '../../config/settings.ts';
import { type Config, pageAddress } from '../../config/config.ts';
import { testArguments } from '../../dev/testing/test-arguments.ts';
import { SourceFile } from '../../diagnostics/source-file.ts';
import { indexDefinitions } from '../../schema/program.ts';
import { compileOptions } from '../compile-definitions.ts';
import type { Invocation } from '../invocation.ts';
import { packageInfo } from '../package-info.ts';
import { reportProblem, type ExitCode, type Terminal } from '../terminal.ts';

/** The template without --template: the shortest one. */
const FIRST_TEMPLATE = 'contact';

const ENV_EXAMPLE = `# Copy this file to .env and fill it in. svc reads .env when it starts.
# A variable that is set in the environment overrides the one in .env.

# Keys of the model providers that your clients use.
#OPENAI_API_KEY=
#ANTHROPIC_API_KEY=

# If set, callers must send this key in the header x-svc-api-key.
#SVC_PASSWORD=

# Every flag of "svc serve" has a variable. "svc help serve" lists the flags.
#SVC_PORT=2024
#SVC_LOG_LEVEL=info

# If set, svc computes the cost of each call from the prices in this file.
#SVC_PRICES=prices.yaml
`;

const PRICES = 'prices.yaml';

const GITIGNORE = `# Keys do not belong in a repository, and neither do the calls that "svc dev" keeps.
.svc/
.env
.env.local
`;

const IGNORES_ENV = /^\/?(?:\*?\.env|\.env\*|\.\*)\s*$/mu;

/** `svc init`: writes one definition file that needs no key, and what belongs beside it. Never overwrites a file. */
export function initCommand({ config, options, terminal }: Invocation): ExitCode {
  const directory = config.from ?? DEFAULT_DIRECTORIES[0];
  const template = options['template'];
  const name = `${typeof template === 'string' ? template : FIRST_TEMPLATE}.svc`;
  const path = join(directory, name);
  const obstacle = obstacleAt(directory) ?? (template === undefined ? definitionsIn(directory) : fileAt(path));
  if (obstacle !== undefined) return reportProblem(terminal, obstacle);
  const text = templateText(name);
  mkdirSync(directory, { recursive: true });
  if (!writeNew(path, text)) return reportProblem(terminal, existing(path));
  terminal.out.write(`wrote ${path}\n`);
  writeBeside('.env.example', ENV_EXAMPLE, terminal);
  writeBeside('.gitignore', GITIGNORE, terminal);
  writeBeside(PRICES, templateText(PRICES), terminal);
  terminal.out.write(nextSteps(new SourceFile(path, text), config, directory));
  return 0;
}

function templateText(name: string): string {
  return readFileSync(join(packageInfo().root, 'templates', name), 'utf8');
}

function obstacleAt(directory: string): string | undefined {
  const found = statSync(directory, { throwIfNoEntry: false });
  const isFile = found === undefined ? isDefinitionFile(directory) : !found.isDirectory();
  return isFile ? `"${directory}" names a file, so svc wrote nothing. Pass the directory to write to.` : undefined;
}

/** Without --template, a user with definitions has probably called the wrong command. */
function definitionsIn(directory: string): string | undefined {
  const sources = readSources(directory);
  if (!sources.ok) return undefined;
  const path = sources.value.files[0]?.path ?? directory;
  return `"${path}" already exists, so svc wrote nothing. Serve it with "${devCommand(directory)}", or add an example with --template.`;
}

function fileAt(path: string): string | undefined {
  return existsSync(path) ? existing(path) : undefined;
}

function existing(path: string): string {
  return `"${path}" already exists, so svc wrote nothing. Rename the file, or pass another directory as an argument.`;
}

/** Returns false if the file exists, even if another process has only just created it. */
function writeNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Writes a file that many projects have already. */
function writeBeside(path: string, text: string, { out }: Terminal): void {
  if (writeNew(path, text)) out.write(`wrote ${path}\n`);
  else if (path !== '.gitignore' || IGNORES_ENV.test(readFileSync(path, 'utf8'))) out.write(`kept ${path}\n`);
  else out.write(`kept ${path}: add the line ".env" to it, so that no one commits your keys\n`);
}

/** Three lines to continue with. The last one calls the function with the arguments of its first test. */
function nextSteps(file: SourceFile, config: Config, directory: string): string {
  const { program, tests } = compile([file], compileOptions(config));
  const [fn] = program?.functions ?? [];
  const [test] = tests;
  invariant(program !== undefined && fn !== undefined && test !== undefined, `the template of ${file.path} has errors`);
  const args = testArguments(test, fn, { definitions: indexDefinitions(program), env: {} });
  const body = JSON.stringify(args.ok ? args.value : {});
  const url = pageAddress(config, config.port, `/stream/${fn.name}`);
  const curl = `curl -sN ${url} -H 'content-type: application/json' -d ${quoted(body)}`;
  return `\nNext:\n  edit ${quoted(file.path)}\n  ${devCommand(directory)}\n  ${curl}\n`;
}

/** `svc dev`, with the directory unless it is the one that svc reads anyway. */
function devCommand(directory: string): string {
  const usual = DEFAULT_DIRECTORIES.find((each) => existsSync(each)) ?? DEFAULT_DIRECTORIES[0];
  return join(usual) === join(directory) ? 'svc dev' : `svc dev ${quoted(directory)}`;
}

/** An argument as a shell reads it. */
function quoted(text: string): string {
  return /^[\w./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
