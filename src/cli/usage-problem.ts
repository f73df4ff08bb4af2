import { existsSync } from 'node:fs';
import type { Command, Option } from 'commander';
import { nearestNames } from '../base/suggestion.ts';
import { SETTINGS, type Setting } from '../config/settings.ts';
import { badValue } from '../config/load-config.ts';

/** Rewrites one message of commander as sentences; an empty one counts for nothing. `words` are the groups of the pattern. */
type Rewrite = (command: Command, ...words: readonly string[]) => readonly string[];

const REWRITES: ReadonlyArray<readonly [RegExp, Rewrite]> = [
  [
    /^unknown option '([^=]*)(.*)'$/su,
    (command, flag = '', value = '') =>
      hasFlag(command, flag)
        ? [`${flag} takes no value, but got ${JSON.stringify(value.slice(1))}.`]
        : [`unknown option ${JSON.stringify(flag)}.`, hintForFlag(command, flag)],
  ],
  [
    /^unknown command '(.*)'$/su,
    (command, name = '') => [`unknown command ${JSON.stringify(name)}.`, hintForCommand(command, name)],
  ],
  [
    /^option '(?:-\w, )?(--\S+) (.*)' argument missing$/su,
    (_, flag = '', placeholder = '') => [`${flag} needs a value: "${flag} ${placeholder}".`],
  ],
  [
    /^option '(?:-\w, )?(--\S+) [^']*' argument '(.*)' is invalid\. Allowed choices are (.*)$/su,
    (_, flag = '', value = '', choices = '') => [
      `${badValue(flag, value, `one of ${choices}`)}.`,
      hintFor(value, choices.split(', ')),
    ],
  ],
  [
    /^option '(?:-\w, )?(--\S+) [^']*' argument '(.*)' is invalid\. It must be (.*)$/su,
    (_, flag = '', value = '', allowed = '') => [`${badValue(flag, value, allowed)}.`],
  ],
];

/** Rewrites a problem that commander found (`error: unknown option '--prot'`) as one line: what is wrong, and what to do. */
export function usageProblem(text: string, command: Command): string {
  const problem = /^error: (.*?)\.?$/su.exec(text.trim())?.[1];
  // A message of svc's own already states what is allowed.
  if (problem === undefined) return text.trim();
  const name = command.parent === null ? 'svc' : `svc ${command.name()}`;
  const sentences = [...rewrite(problem, command), `See "${name} --help".`];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function rewrite(problem: string, command: Command): readonly string[] {
  for (const [pattern, sentences] of REWRITES) {
    const words = pattern.exec(problem);
    if (words !== null) return sentences(command, ...words.slice(1));
  }
  return [`${problem.replaceAll("'", '"').replaceAll(/\s*\n\s*/gu, ' ')}.`];
}

function hintForFlag(command: Command, flag: string): string {
  const variable = variableOnly(flag);
  if (variable !== undefined) return `Set ${variable}: every user of a machine can read its command lines.`;
  const owners = command.commands.filter((each) => hasFlag(each, flag));
  const owner = owners.find((each) => each.name() === 'serve') ?? owners[0];
  if (owner !== undefined) return `Write it after a command: "svc ${owner.name()} ${flag}".`;
  const options = optionsOf(command);
  if (flag.startsWith('--'))
    return hintFor(
      flag,
      options.flatMap(({ long }) => long ?? []),
    );
  const short = options.find((option) => option.short?.toLowerCase() === flag.toLowerCase())?.short;
  const long = options.find((option) => option.long?.startsWith(`-${flag.slice(0, 2).toLowerCase()}`))?.long;
  return question(short ?? long);
}

/** The variable of a setting that has no flag, if a flag for it would have this name. */
function variableOnly(flag: string): string | undefined {
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);
  const variables = settings.flatMap((setting) => (setting.flag === undefined ? setting.variable : []));
  return variables.find((variable) => variable === `SVC_${flag.slice(2).toUpperCase()}`);
}

function hasFlag(command: Command, flag: string): boolean {
  return optionsOf(command).some(({ long }) => long === flag);
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

function hintForCommand(command: Command, name: string): string {
  if (hasFlag(command, `--${name}`)) return question(`--${name}`);
  const near = hintFor(
    name,
    command.commands.map((each) => each.name()),
  );
  return near === '' && existsSync(name) ? `To serve this path, run ${JSON.stringify(`svc dev ${name}`)}.` : near;
}

/** A typo in a command line has one correction, unlike one in a definition file. */
function hintFor(wanted: string, names: readonly string[]): string {
  return question(nearestNames(wanted, names)[0]);
}

function question(name: string | undefined): string {
  return name === undefined ? '' : `Did you mean "${name}"?`;
}
