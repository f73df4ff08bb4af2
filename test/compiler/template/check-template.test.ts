import { expect, test } from 'vitest';
import { parseTemplate } from '../../../src/compiler/1-parse/template/parse-template.ts';
import { checkTemplate } from '../../../src/compiler/2-check/check.ts';
import { indexDefinitions, type Definitions } from '../../../src/schema/program.ts';
import type { ClassType, EnumType, Type } from '../../../src/schema/type.ts';
import { readTemplateSamples, showDiagnostics } from './read-template-samples.ts';

// The parameters are `c: C, cs: C[], o: C?, either: C | D, e: Col, es: Col[], m: map<string, C>, text: string`.

const SAMPLES = readTemplateSamples('check-template.txt');

const STRING: Type = { kind: 'string' };
const C: Type = { kind: 'class', name: 'C' };
const D: Type = { kind: 'class', name: 'D' };
const COL: Type = { kind: 'enum', name: 'Col' };
const PARAMETERS = [
  { name: 'c', type: C },
  { name: 'cs', type: { kind: 'list', element: C } },
  { name: 'o', type: { kind: 'union', members: [C, { kind: 'null' }] } },
  { name: 'either', type: { kind: 'union', members: [C, D] } },
  { name: 'e', type: COL },
  { name: 'es', type: { kind: 'list', element: COL } },
  { name: 'm', type: { kind: 'map', key: STRING, value: C } },
  { name: 'text', type: STRING },
] satisfies { name: string; type: Type }[];

const DEFINITIONS: Definitions = {
  classes: [classOf('C', { title: STRING, color: COL, inner: D }), classOf('D', { size: { kind: 'int' } })],
  enums: [colors()],
  aliases: [],
  functions: [],
  templateStrings: [
    { name: 'Greet', parameters: [{ name: 'name', type: STRING }], template: template('Hi {{ name }}') },
    { name: 'Answer', parameters: [], template: template('{{ ctx.output_format }}') },
    { name: 'SeesText', parameters: [], template: template('{{ text }}') },
  ],
  clients: [],
  retryPolicies: [],
};

function template(text: string) {
  return parseTemplate({ file: 'main.baml', text, toFileOffset: (offset) => offset }).template;
}

function classOf(name: string, fields: Readonly<Record<string, Type>>): ClassType {
  const list = Object.entries(fields).map(([field, type]) => ({
    name: field,
    type,
    skip: false,
    streamNotNull: false,
  }));
  return { name, fields: list, constraints: [], streamDone: false, dynamic: false };
}

function colors(): EnumType {
  const values = [
    { name: 'RED', skip: false },
    { name: 'GREEN', alias: 'verde', skip: false },
  ];
  return { name: 'Col', values, dynamic: false };
}

test('there are enough samples', () => {
  expect(SAMPLES.length).toBeGreaterThan(30);
});

test.each(SAMPLES)('$title', ({ template: text, expected }) => {
  const used = PARAMETERS.filter(({ name }) => new RegExp(`\\b${name}\\b`, 'u').test(text));
  const parsed = template(text);
  const returns: Type = text.startsWith('{# returns C #}') ? C : STRING;
  const diagnostics = checkTemplate(parsed, {
    definitions: indexDefinitions(DEFINITIONS),
    parameters: text.includes('{# all parameters #}') ? PARAMETERS : used,
    returns,
    declaration: { file: 'main.baml', start: 0, end: 2 },
  });
  expect(showDiagnostics(diagnostics, text)).toBe(expected);
});
