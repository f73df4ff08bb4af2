import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/program.ts';
import type { SettingKey } from '../../src/config/config.ts';
import { SETTINGS, type Setting, type SettingGroup, type ParseValue } from '../../src/config/settings.ts';
import {
  TELEMETRY_VARIABLES,
  variableOfSignal,
  type TelemetryVariable,
} from '../../src/config/telemetry-settings.ts';
import { ROOT } from '../architecture/source-files.ts';
import { generatedSection } from './generated-section.ts';
import { tableOf } from './markdown.ts';

const PAGE = 'docs/configuration.md';
const settings = Object.entries(SETTINGS) as unknown as ReadonlyArray<readonly [SettingKey, Setting<unknown>]>;
const groups = [...new Set(settings.map(([, { group }]) => group))];
const telemetry: ReadonlyArray<TelemetryVariable<unknown>> = Object.values(TELEMETRY_VARIABLES);

/**
 * The values that a parser allows, as its message about another value lists them. Only the parser of any string accepts a null
 * character. The page explains the units once.
 */
function allowedValues(parse: ParseValue<unknown>): string {
  const parsed = parse('\0');
  return parsed.ok ? 'a string' : parsed.failure.replace(/(a duration|a size|a share) [^(]*\(/u, '$1 (');
}

function code(text: string): string {
  return `\`${text}\``;
}

function defaultOf(key: SettingKey, setting: Setting<unknown>): string {
  const { default: own } = setting;
  const text = typeof own === 'string' ? own && code(own) : (own.text ?? '');
  const others = COMMANDS.flatMap(({ name, presets }) => {
    const value = presets?.defaults?.[key];
    const fixed = presets?.fixed?.[key];
    if (value !== undefined) return [`${code(name)}: ${code(value)}`];
    return fixed === undefined ? [] : [`${code(name)}: always ${code(JSON.stringify(fixed))}`];
  });
  return [...(text === '' ? [] : [text]), ...others].join('; ');
}

function rowOf([key, setting]: readonly [SettingKey, Setting<unknown>]): readonly string[] {
  const { flag, opposite, variable, bamlVariable, help, parse } = setting;
  const names = [flag, opposite?.[0], variable, bamlVariable].filter((name) => name !== undefined);
  const commands = COMMANDS.filter((command) => command.settings.includes(key)).map(({ name }) => code(name));
  return [names.map(code).join('<br>'), help, allowedValues(parse), defaultOf(key, setting), commands.join(', ')];
}

function tableOfGroup(group: SettingGroup): string {
  const rows = settings.filter(([, setting]) => setting.group === group).map(rowOf);
  return tableOf(['flag and variable', 'meaning', 'values', 'default', 'commands'], rows);
}

test.each(groups)('the settings under "%s" are those that the program declares', (group) => {
  const section = generatedSection(PAGE, group, tableOfGroup(group));
  expect(section.actual, 'run the tests with UPDATE_DOCS=1').toBe(section.expected);
});

test('the variables of OpenTelemetry are those that the program declares', () => {
  const rows = telemetry.map(({ variable, help, parse, default: value = '', perSignal }) => {
    const forms = perSignal ? [variableOfSignal(variable, 'TRACES'), variableOfSignal(variable, 'METRICS')] : [];
    return [[variable, ...forms].map(code).join('<br>'), help, allowedValues(parse), value && code(value)];
  });
  const section = generatedSection(PAGE, 'OpenTelemetry', tableOf(['variable', 'meaning', 'values', 'default'], rows));
  expect(section.actual, 'run the tests with UPDATE_DOCS=1').toBe(section.expected);
});

test('the page has a row for every flag and every variable', () => {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const names = settings.flatMap(([, { flag, opposite, variable, bamlVariable }]) => [
    flag,
    opposite?.[0],
    variable,
    bamlVariable,
  ]);
  const missing = [...names, ...telemetry.map(({ variable }) => variable)].filter(
    (name) => name !== undefined && !page.includes(`${code(name)}<br>`) && !page.includes(`${code(name)} |`),
  );
  expect(names.length).toBeGreaterThan(80);
  expect(missing).toEqual([]);
});
