import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepGrowth } from '../../support/count-steps.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { dedent, dedentTemplateString } from '../../../src/compiler/1-parse/dedent.ts';
import { parseExpression, parseTemplate } from '../../../src/compiler/1-parse/template/parse-template.ts';
import type { Expression } from '../../../src/schema/template.ts';
import { readTemplateSamples, showDiagnostics } from './read-template-samples.ts';

function source(text: string) {
  return { file: 'main.baml', text, toFileOffset: (offset: number) => offset };
}

const ERRORS = readTemplateSamples('syntax-errors.txt');

test('there are enough samples', () => {
  expect(ERRORS.length).toBeGreaterThan(25);
});

test.each(ERRORS)('$title', ({ template, expected }) => {
  expect(showDiagnostics(parseTemplate(source(template)).diagnostics, template)).toBe(expected);
});

/** Prints an expression with parentheses around every operation. */
function grouped(text: string): string {
  const { expression, diagnostics } = parseExpression(source(text));
  return expression === undefined ? (diagnostics[0]?.code ?? 'nothing') : show(expression);
}

function show(expression: Expression): string {
  switch (expression.kind) {
    case 'unary':
      return `(${expression.operator} ${show(expression.operand)})`;
    case 'binary':
      return `(${show(expression.left)} ${expression.operator} ${show(expression.right)})`;
    case 'filter':
      return `(${show(expression.input)} | ${expression.filter.name})`;
    case 'test':
      return `(${show(expression.input)} is ${expression.negated ? 'not ' : ''}${expression.name})`;
    case 'attribute':
      return `${show(expression.object)}.${expression.name}`;
    case 'conditional':
      return `(${show(expression.condition)} ? ${show(expression.value)} : ${expression.otherwise ? show(expression.otherwise) : ''})`;
    case 'name':
      return expression.name;
    case 'integer':
      return String(expression.value);
    default:
      return expression.kind;
  }
}

test.each([
  ['1 + 2 * 3', '(1 + (2 * 3))'],
  ['1 - 2 - 3', '((1 - 2) - 3)'],
  ['2 ** 3 ** 2', '((2 ** 3) ** 2)'],
  ['-1 ** 2', '((- 1) ** 2)'],
  ['-a.b', '(- a.b)'],
  ['-a|abs', '((- a) | abs)'],
  ['a ~ b + c', '((a ~ b) + c)'],
  ['a * b ~ c', '((a * b) ~ c)'],
  ['a or b and not c', '(a or (b and (not c)))'],
  ['not a == b', '(not (a == b))'],
  ['not a in b', '(not (a in b))'],
  ['a not in b', '(a not in b)'],
  ['a < b == c', '((a < b) == c)'],
  ['a + b|upper', '(a + (b | upper))'],
  ['a is odd and b', '((a is odd) and b)'],
  ['a is not odd', '(a is not odd)'],
  ['not a is odd', '(not (a is odd))'],
  ['a if b else c if d else e', '(b ? a : (d ? c : e))'],
  ['a if b', '(b ? a : )'],
  ['a in b if c else d', '(c ? (a in b) : d)'],
])('%s is %s', (text, expected) => {
  expect(grouped(text)).toBe(expected);
});

test('positions are those in the file, before the removal of indentation', () => {
  const file = 'prompt #"\n    one\n      {{ two }}\n  "#';
  const start = file.indexOf('"') + 1;
  const { template } = parseTemplate(dedent(file.slice(start, file.lastIndexOf('"')), start, 'main.baml'));
  const print = template.body.find((statement) => statement.kind === 'print');
  expect(print && file.slice(print.start, print.end)).toBe('{{ two }}');
  expect(print && file.slice(print.expression.start, print.expression.end)).toBe('two');
});

test.each([
  ['\n  first\n    second\n  third\n', 'first\n  second\nthird'],
  ['\n    first\n    \tsecond\n', 'first\n\tsecond'],
  ['first\n    second', 'first\n    second'],
  ['   first\n    second', 'first\n    second'],
  ['\n  a\n\n \n      \n  b   \n', 'a\n\n\n\nb'],
  ['\n  \ta\n\t  b\n', 'a\nb'],
  ['\n    a\n\tb\n', 'a\nb'],
  ['\u00a0a\u0085', 'a'],
  ['\ufeffa', '\ufeffa'],
  ['\r\n  a\r\n  b\r\n', 'a\nb'],
  ['', ''],
  ['   \n  ', ''],
])('the indentation of %j goes: %j', (raw, expected) => {
  expect(dedent(raw, 0, 'main.baml').text).toBe(expected);
});

test.each([
  ['\n  a\n  b\n', 'a\nb'],
  ['\n  a\n\n\n', 'a'],
  ['a', 'a'],
  ['  a\n  b', 'a\n  b'],
  ['\n\n', ''],
  ['\n    a\n  b\n', '  a\nb'],
  ['\n\n    a\n\n  b\n', '  a\n\nb'],
  ['\n  \ta\n\t  b\n', '  \ta\n\t  b'],
  ['\n  a\n\t\n  b\n', '  a\n\n  b'],
  ['\n  a\n \n  b\n', 'a\n\nb'],
])('the body %j of a template_string is %j', (raw, expected) => {
  expect(dedentTemplateString(raw, 0, 'main.baml').text).toBe(expected);
});

test('the position of every character of dedented text is that of the same character in the file', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', ' ', ' ', '\t', '{') });
  assertProperty(
    fc.property(fc.array(line, { maxLength: 8 }), fc.nat(50), (lines, offset) => {
      const raw = lines.join('\n');
      const dedented = dedent(raw, offset, 'main.baml');
      for (let at = 0; at < dedented.text.length; at += 1) {
        expect(raw.charAt(dedented.toFileOffset(at) - offset)).toBe(dedented.text.charAt(at));
      }
    }),
  );
});

const HOSTILE: readonly (readonly [string, string])[] = [
  ['brackets', `{{ ${'('.repeat(100_000)} }}`],
  ['lists', `{{ ${'['.repeat(100_000)} }}`],
  ['signs', `{{ ${'-'.repeat(100_000)}1 }}`],
  ['nots', `{{ ${'not '.repeat(100_000)}1 }}`],
  ['filters', `{{ a${'|b'.repeat(100_000)} }}`],
  ['attributes', `{{ a${'.b'.repeat(100_000)} }}`],
  ['operators', `{{ a${' ~ a'.repeat(100_000)} }}`],
  ['conditions', `{{ a${' if a else a'.repeat(100_000)} }}`],
  ['calls', `{{ ${'f('.repeat(100_000)} }}`],
  ['targets', `{% for ${'('.repeat(100_000)}a in b %}{% endfor %}`],
  ['blocks', '{% if a %}'.repeat(100_000)],
  ['loops', '{% for a in b %}'.repeat(100_000)],
];

test.each(HOSTILE)('100,000 nested %s have a diagnostic', (_, text) => {
  const { template, diagnostics } = parseTemplate(source(text));
  expect(diagnostics.map((each) => each.code)).toContain('template/too-deep');
  expect(diagnostics.length).toBeLessThan(5);
  expect(() => JSON.stringify(structuredClone(template))).not.toThrow();
});

test.each([
  '{{ a }} text\n',
  '{{ ',
  '{% if a %}x{% endif %}\n',
  '{# a #}',
  '{# ',
  '{{ "a',
  '{% raw %}',
  '{{ a }',
  '    \n',
  '{{ [1, 2, 3] }}',
  '{% endif %}',
])('parsing is linear in the number of %j', (piece) => {
  const growth = stepGrowth(2000, (count) => {
    const text = piece.repeat(count);
    return () => parseTemplate(source(text));
  });
  expect(growth.factor).toBeLessThan(2.2);
});

test('parsing never throws', () => {
  const words = [
    '{{',
    '}}',
    '{%',
    '%}',
    '{#',
    '#}',
    ' ',
    '\n',
    ...'if for in endif set = a | ( ) [ " - . raw endraw { }'.split(' '),
  ];
  assertProperty(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...words), fc.string())), (pieces) => {
      const text = pieces.join('');
      const { diagnostics } = parseTemplate(source(text));
      for (const { span } of diagnostics) {
        expect(span.start).toBeGreaterThanOrEqual(0);
        expect(span.end).toBeLessThanOrEqual(text.length);
        expect(span.start).toBeLessThanOrEqual(span.end);
      }
    }),
    { numRuns: 200 },
  );
});
