import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Argument, Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { ROOT } from '../architecture/source-files.ts';
import { generatedSection } from './generated-section.ts';
import { tableOf } from './markdown.ts';

const PAGE = 'docs/cli.md';
const silent = { colour: false, write: () => {} };
const commands = createProgram({ out: silent, error: silent }, async () => {}).commands;

function code(text: string): string {
  return `\`${text}\``;
}

function isSetting(option: Option): boolean {
  return option.attributeName() in SETTINGS;
}

/** The section of a command: how it is written, its own arguments and options, and the flags of its settings. */
function sectionOf(command: Command): string {
  const help = command.createHelp();
  const options = command.options;
  const rows = [
    ...command.registeredArguments.map((argument) => [code(nameOf(argument)), argument.description]),
    ...options.filter((option) => !isSetting(option)).map((option) => [code(option.flags), help.optionDescription(option)]),
  ];
  const settings = options.flatMap((option) => (isSetting(option) ? [code(option.flags)] : []));
  const usage = `Usage: ${code(`svc ${command.name()} ${command.usage()}`)}`;
  const table = rows.length === 0 ? [] : [tableOf(['argument or option', 'meaning'], rows)];
  const list = settings.length === 0 ? [] : [`[Settings](configuration.md): ${settings.join(', ')}.`];
  return [usage, ...table, ...list].join('\n\n');
}

function nameOf(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

test('the list of commands is that of the program', () => {
  const rows = commands.map((command) => [`[${code(`svc ${command.name()}`)}](#svc-${command.name()})`, command.description()]);
  const section = generatedSection(PAGE, 'commands', tableOf(['command', 'purpose'], rows));
  expect(section.actual, 'run the tests with UPDATE_DOCS=1').toBe(section.expected);
});

test.each(commands.map((command) => [command.name(), command] as const))(
  'the arguments and options of svc %s are those of the program',
  (name, command) => {
    const section = generatedSection(PAGE, name, sectionOf(command));
    expect(section.actual, 'run the tests with UPDATE_DOCS=1').toBe(section.expected);
  },
);

test('the page describes every command once, with an example', () => {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const described = [...page.matchAll(/^## svc (\w+)\n[^]*?^```sh\nsvc (\w+)/gmu)];
  expect(described.map(([, name]) => name)).toEqual(described.map(([, , example]) => example));
  const names = described.map(([, name = '']) => name);
  expect(names.toSorted()).toEqual(commands.map((command) => command.name()).toSorted());
});
