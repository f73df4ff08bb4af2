import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepGrowth } from '../../support/count-steps.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { FILTERS, FUNCTIONS, TESTS } from '../../../src/schema/template-vocabulary.ts';
import { parseTemplate } from '../../../src/compiler/1-parse/template/parse-template.ts';
import { createPromptRenderer } from '../../../src/runtime/prompt/create-prompt-renderer.ts';
import type { Program } from '../../../src/schema/program.ts';
import { CLIENT, rendererOf } from './sample-program.ts';
import { fitsOf } from '../../support/validators.ts';

// Laws that hold for every template.

const ARGS = {
  s: 'a <b> "c"',
  i: 3,
  f: 2,
  l: ['x', 'y'],
  m: { k: 1 },
  e: 'RED',
  c: { n: 'x', col: 'RED' },
  p: { url: 'http://x/y.png' },
};
const NAMES = [
  's',
  'i',
  'f',
  'l',
  'm',
  'e',
  'c',
  'o',
  'p',
  'ctx',
  '_',
  'Col',
  'loop',
  'zz',
  'constructor',
  '__proto__',
];
const ATTRIBUTES = [
  'k',
  'n',
  'value',
  'constructor',
  '__proto__',
  'prototype',
  'length',
  'toString',
  'client',
  'items',
  'upper',
  'role',
  'output_format',
  'index',
];

const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const some = tie('expression');
  const args = fc.array(some, { maxLength: 3 }).map((values) => values.join(', '));
  return {
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...NAMES),
      fc.constantFrom('1', '0', '-1', '1.5', '""', '"a"', 'none', 'true', '[]', '{}', '"%"', '100000'),
      fc.tuple(some, fc.constantFrom(...Object.keys(FILTERS)), args).map(([a, name, b]) => `(${a})|${name}(${b})`),
      fc.tuple(some, fc.constantFrom(...Object.keys(FILTERS))).map(([a, name]) => `${a}|${name}`),
      fc
        .tuple(some, fc.constantFrom(...Object.keys(TESTS).filter((name) => /^[a-z]/u.test(name))), args)
        .map(([a, name, b]) => `(${a}) is ${name}(${b})`),
      fc.tuple(some, fc.constantFrom(...ATTRIBUTES)).map(([a, name]) => `${a}.${name}`),
      fc.tuple(some, fc.constantFrom(...ATTRIBUTES), args).map(([a, name, b]) => `${a}.${name}(${b})`),
      fc.tuple(fc.constantFrom(...Object.keys(FUNCTIONS)), args).map(([name, b]) => `${name}(${b})`),
      fc.tuple(some, some).map(([a, b]) => `(${a})[${b}]`),
      fc.tuple(some, some, some).map(([a, b, c]) => `(${a})[${b}:${c}]`),
      fc
        .tuple(
          some,
          fc.constantFrom('+', '-', '*', '/', '//', '%', '**', '~', '==', '<', '>=', 'in', 'and', 'or'),
          some,
        )
        .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
      fc.tuple(some, some).map(([a, b]) => `[${a}, ${b}]`),
      fc.tuple(some, some).map(([a, b]) => `{${a}: ${b}}`),
      fc.tuple(some, some, some).map(([a, b, c]) => `(${a} if ${b} else ${c})`),
    ),
  };
});

const statement = fc.oneof(
  expression.map((a) => `{{ ${a} }}`),
  fc.tuple(expression, expression).map(([a, b]) => `{% for x in ${a} %}{{ ${b} }}{{ loop.index }}{% endfor %}`),
  fc.tuple(expression, expression).map(([a, b]) => `{% if ${a} %}{{ ${b} }}{% endif %}`),
  fc.tuple(expression, expression).map(([a, b]) => `{% set x = ${a} %}{{ x }}{{ ${b} }}`),
  fc.tuple(expression, expression).map(([a, b]) => `{% macro f(a) %}{{ a }}{{ ${a} }}{% endmacro %}{{ f(${b}) }}`),
);

/** A program with this prompt that skips the checker, which refuses many of these prompts. */
function unchecked(prompt: string): Program | undefined {
  const { template, diagnostics } = parseTemplate({ file: 'main.baml', text: prompt, toFileOffset: (at) => at });
  if (diagnostics.length > 0) return undefined;
  const [checked] = BASE.functions;
  return checked && { ...BASE, functions: [{ ...checked, prompt: template }] };
}

const COL = { kind: 'enum', name: 'Col' } as const;
const STRING = { kind: 'string' } as const;
const CLASS = { kind: 'class', name: 'C' } as const;
const PARAMETERS = {
  s: STRING,
  i: { kind: 'int' },
  f: { kind: 'float' },
  l: { kind: 'list', element: STRING },
  m: { kind: 'map', key: STRING, value: { kind: 'int' } },
  e: COL,
  c: CLASS,
  o: { kind: 'union', members: [CLASS, { kind: 'null' }] },
  p: { kind: 'media', media: 'image' },
} as const;
const FIELD = { skip: false, streamNotNull: false };

const BASE: Program = {
  format: 2,
  hash: '',
  files: [{ path: 'main.baml', lineStarts: [0] }],
  openapi: {},
  classes: [
    {
      name: 'C',
      fields: [
        { name: 'n', type: STRING, alias: 'name', ...FIELD },
        { name: 'col', type: COL, ...FIELD },
      ],
      constraints: [],
      streamDone: false,
      dynamic: false,
    },
  ],
  enums: [{ name: 'Col', values: [{ name: 'RED', alias: 'rot', skip: false }], dynamic: false }],
  aliases: [],
  templateStrings: [],
  clients: [],
  retryPolicies: [],
  functions: [
    {
      name: 'F',
      parameters: Object.entries(PARAMETERS).map(([name, type]) => ({ name, type })),
      returns: CLASS,
      client: 'openai/m1',
      prompt: { file: 'main.baml', body: [] },
      examples: [],
    },
  ],
};

/** The types of `BASE`, which are those of every program with another prompt. */
const FITS = fitsOf(BASE);

test('rendering returns messages or a prompt error; it never throws and exposes nothing of JavaScript', () => {
  let rendered = 0;
  assertProperty(
    fc.property(fc.array(statement, { minLength: 1, maxLength: 3 }), (statements) => {
      const program = unchecked(statements.join(' '));
      if (program === undefined) return;
      const result = createPromptRenderer(program, FITS).render('F', ARGS, CLIENT);
      if (!result.ok) {
        expect(result.failure.code).toBe('prompt_error');
        return;
      }
      rendered += 1;
      const text = JSON.stringify(result.value);
      expect(text).not.toMatch(/native code|\[object |=>|class extends/u);
      expect(result.value.length).toBeGreaterThan(0);
      for (const { parts } of result.value) expect(parts.length).toBeGreaterThan(0);
    }),
    { numRuns: 1300 },
  );
  expect(rendered).toBeGreaterThan(60);
});

test('the same arguments give the same messages, and are not changed', () => {
  assertProperty(
    fc.property(statement, (text) => {
      const program = unchecked(text);
      if (program === undefined) return;
      const renderer = createPromptRenderer(program, FITS);
      const args = structuredClone(ARGS);
      const first = renderer.render('F', args, CLIENT);
      expect(renderer.render('F', args, CLIENT)).toEqual(first);
      expect(args).toEqual(ARGS);
    }),
    { numRuns: 150 },
  );
});

test('a program that went through JSON renders the same', () => {
  const fits = fitsOf(JSON.parse(JSON.stringify(BASE)) as Program);
  assertProperty(
    fc.property(statement, (text) => {
      const program = unchecked(text);
      if (program === undefined) return;
      const copy = JSON.parse(JSON.stringify(program)) as Program;
      expect(createPromptRenderer(copy, fits).render('F', ARGS, CLIENT)).toEqual(
        createPromptRenderer(program, FITS).render('F', ARGS, CLIENT),
      );
    }),
    { numRuns: 200 },
  );
});

test.each([
  '{% for x in l %}{{ loop.index }}: {{ x|upper }}\n{% endfor %}',
  '{{ l|join(", ") }}',
  '{{ l }}',
  '{{ l|tojson }}',
  '{{ l|format(type="yaml") }}',
  '{{ l|format(type="toon") }}',
  '{{ l|unique|sort|first }}',
  '{{ l|map("upper")|select("defined")|list|length }}',
  '{{ l|join|replace("a", "bb")|trim|indent(2)|title }}',
  '{{ l|join|regex_match("(a+)+z") }}',
  '{% for x in l %}{{ _.role("user") }}{{ x }}{{ _.role("assistant") }}{{ x }}{% endfor %}',
])('rendering is linear in the arguments: %s', (prompt) => {
  const renderer = rendererOf(
    `function F(l: string[]) -> string {\n  client "openai/m1"\n  prompt ####"${prompt}"####\n}\n`,
  );
  const growth = stepGrowth(1000, (count) => {
    const args = { l: Array.from({ length: count }, (_, index) => `a${index} `) };
    return () => expect(renderer.render('F', args, CLIENT).ok).toBe(true);
  });
  expect(growth.factor).toBeLessThan(2.4);
});
