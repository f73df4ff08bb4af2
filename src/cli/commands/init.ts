import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
import { refuse, reportProblem, type ExitCode, type Terminal } from '../terminal.ts';

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

/** The folder of a project, relative to the current one, and the directory of its definitions, relative to that folder. */
interface Project {
  readonly root: string;
  readonly definitions: string;
}

/**
 * `svc init`: writes one definition file that needs no key, and what belongs beside it, to the current folder or to that of a new
 * project. Never overwrites a file.
 */
export function initCommand({ config, flags, options, paths, terminal }: Invocation): ExitCode {
  const [folder] = paths;
  if (folder !== undefined && flags.from !== undefined) {
    return refuse(terminal, `"${folder}" is the folder of a project, which has its own definitions: leave out --from`);
  }
  const project = projectOf(folder, config.from);
  // The directory that --from names can be absolute.
  const directory = project.root === '.' ? project.definitions : join(project.root, project.definitions);
  const template = options['template'];
  const name = `${typeof template === 'string' ? template : FIRST_TEMPLATE}.svc`;
  const path = join(directory, name);
  const obstacle =
    obstacleIn(project) ??
    obstacleAt(directory) ??
    (template === undefined ? definitionsIn(directory, project) : fileAt(path));
  if (obstacle !== undefined) return reportProblem(terminal, obstacle);
  const text = templateText(name);
  mkdirSync(directory, { recursive: true });
  if (!writeNew(path, text)) return reportProblem(terminal, existing(path));
  terminal.out.write(`wrote ${path}\n`);
  writeBeside(project, '.env.example', ENV_EXAMPLE, terminal);
  writeBeside(project, '.gitignore', GITIGNORE, terminal);
  writeBeside(project, PRICES, templateText(PRICES), terminal);
  terminal.out.write(nextSteps(project, new SourceFile(join(project.definitions, name), text), config));
  return 0;
}

/** A folder that is called like a directory of definitions is one: no one wants svc_src/svc_src. */
function projectOf(folder: string | undefined, from: string | undefined): Project {
  if (folder === undefined) return { root: '.', definitions: from ?? DEFAULT_DIRECTORIES[0] };
  const isDefinitions = DEFAULT_DIRECTORIES.some((directory) => basename(directory) === basename(folder));
  const root = isDefinitions ? dirname(folder) : folder;
  return { root, definitions: isDefinitions ? basename(folder) : usualDirectory(root) };
}

/** The directory that svc reads in a folder if no one names another. */
function usualDirectory(root: string): string {
  return join(DEFAULT_DIRECTORIES.find((each) => existsSync(join(root, each))) ?? DEFAULT_DIRECTORIES[0]);
}

function templateText(name: string): string {
  return readFileSync(join(packageInfo().root, 'templates', name), 'utf8');
}

function obstacleAt(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  const isFile = found === undefined ? isDefinitionFile(folder) : !found.isDirectory();
  return isFile ? `"${folder}" names a file, so svc wrote nothing. Pass the name of a folder.` : undefined;
}

/** A user who names a directory of definitions wants no project in it. */
function obstacleIn({ root, definitions }: Project): string | undefined {
  if (root === '.') return undefined;
  const obstacle = obstacleAt(root);
  if (obstacle !== undefined || !existsSync(root)) return obstacle;
  const file = readdirSync(root).find((name) => isDefinitionFile(name));
  if (file === undefined) return undefined;
  return `"${join(root, file)}" is a definition file, so svc did not write "${join(root, definitions)}". To add an example beside it, pass "--from ${root}" and --template.`;
}

/** Without --template, a user with definitions has probably called the wrong command. */
function definitionsIn(directory: string, project: Project): string | undefined {
  const sources = readSources(directory);
  if (!sources.ok) return undefined;
  const path = sources.value.files[0]?.path ?? directory;
  const serve = project.root === '.' ? devCommand(project) : `svc dev ${quoted(directory)}`;
  return `"${path}" already exists, so svc wrote nothing. Serve it with "${serve}", or add an example with --template.`;
}

function fileAt(path: string): string | undefined {
  return existsSync(path) ? existing(path) : undefined;
}

function existing(path: string): string {
  return `"${path}" already exists, so svc wrote nothing. Rename the file, or pass the name of a new folder.`;
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
function writeBeside({ root }: Project, name: string, text: string, { out }: Terminal): void {
  const path = join(root, name);
  if (writeNew(path, text)) out.write(`wrote ${path}\n`);
  else if (name !== '.gitignore' || IGNORES_ENV.test(readFileSync(path, 'utf8'))) out.write(`kept ${path}\n`);
  else out.write(`kept ${path}: add the line ".env" to it, so that no one commits your keys\n`);
}

/** The commands to continue with. The last one calls the function with the arguments of its first test. */
function nextSteps(project: Project, file: SourceFile, config: Config): string {
  const { program, tests } = compile([file], compileOptions(config));
  const [fn] = program?.functions ?? [];
  const [test] = tests;
  invariant(program !== undefined && fn !== undefined && test !== undefined, `the template of ${file.path} has errors`);
  const args = testArguments(test, fn, { definitions: indexDefinitions(program), env: {} });
  const body = JSON.stringify(args.ok ? args.value : {});
  const url = pageAddress(config, config.port, `/stream/${fn.name}`);
  const curl = `curl -sN ${url} -H 'content-type: application/json' -d ${quoted(body)}`;
  const enter = project.root === '.' ? [] : [`cd ${quoted(project.root)}`];
  const steps = [...enter, `edit ${quoted(file.path)}`, devCommand(project), curl];
  return `\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}`;
}

/** `svc dev` in the folder of the project, with the directory unless it is the one that svc reads anyway. */
function devCommand({ root, definitions }: Project): string {
  return usualDirectory(root) === join(definitions) ? 'svc dev' : `svc dev ${quoted(definitions)}`;
}

/** An argument as a shell reads it. */
function quoted(text: string): string {
  return /^[\w./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
