import { expect, test } from 'vitest';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { formatGithub, formatJson, formatPretty, formatSarif } from '../../src/diagnostics/report-formats.ts';

const file = new SourceFile('dir/a,b.svc', 'class A {\n\tname Strng\n}\nclass A {}\n');
const at = (text: string, from = 0): { file: string; start: number; end: number } => {
  const start = file.text.indexOf(text, from);
  return { file: file.path, start, end: start + text.length };
};
const unknown: Diagnostic = {
  code: 'check/unknown-type',
  severity: 'error',
  message: 'There is no type "Strng".',
  help: 'Did you mean "string"?',
  span: at('Strng'),
  fix: { span: at('Strng'), text: 'string' },
};
const twice: Diagnostic = {
  code: 'check/duplicate-name',
  severity: 'warning',
  message: '100% twice\nreally',
  span: at('A {}'),
  related: [{ span: at('A {'), message: 'the first one' }],
};
const input = { files: [file], diagnostics: [unknown, twice] };

test('the pretty format shows the position, the line with marks under it, and the advice', () => {
  expect(formatPretty({ ...input, diagnostics: [unknown] }, false)).toBe(
    [
      'error check/unknown-type There is no type "Strng".',
      '  --> dir/a,b.svc:2:7',
      '   |',
      ' 1 | class A {',
      ' 2 |   name Strng',
      '   |        ^^^^^',
      '   = Did you mean "string"?',
      '',
    ].join('\n'),
  );
});

test('related positions have other marks', () => {
  const text = formatPretty({ ...input, diagnostics: [twice] }, false);
  expect(text).toContain('= the first one:\n  --> dir/a,b.svc:1:7');
  expect(text).toContain('       ---');
});

test('the pretty format has colours only on request', () => {
  expect(formatPretty(input, false)).not.toContain('\u001B');
  expect(formatPretty(input, true)).toContain('\u001B[1;31merror\u001B[0m');
});

test('text of a file cannot manipulate the terminal', () => {
  const evil = new SourceFile('evil.svc', 'x \u001B[2J\u202E y\n');
  const span = { file: 'evil.svc', start: 0, end: 1 };
  const diagnostic = { ...unknown, message: 'found \u001B]0;title', span };
  const text = formatPretty({ files: [evil], diagnostics: [diagnostic] }, false);
  expect(text).not.toContain('\u001B');
  expect(text).not.toContain('\u202E');
  expect(text).toContain('x \u00B7[2J\u00B7 y');
});

test('a long line is cut around the marked text', () => {
  const long = new SourceFile('long.svc', `${'a'.repeat(5000)}BAD${'b'.repeat(5000)}`);
  const span = { file: 'long.svc', start: 5000, end: 5003 };
  const lines = formatPretty({ files: [long], diagnostics: [{ ...unknown, span }] }, false).split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(200);
  expect(lines[3]?.indexOf('BAD')).toBe(lines[4]?.indexOf('^^^'));
});

test('marks are aligned with characters of double width', () => {
  const wide = new SourceFile('wide.svc', '日本 Bad');
  const span = { file: 'wide.svc', start: 3, end: 6 };
  expect(formatPretty({ files: [wide], diagnostics: [{ ...unknown, span }] }, false)).toContain('\n   |      ^^^\n');
});

test.each([
  ['✅ Bad', 2, '   '],
  ['e\u0301 Bad', 3, '  '],
  ['☎ Bad', 2, '  '],
])('marks are aligned with the text after %j', (text, start, before) => {
  const source = new SourceFile('a.svc', text);
  const diagnostic = { ...unknown, span: { file: 'a.svc', start, end: start + 3 } };
  expect(formatPretty({ files: [source], diagnostics: [diagnostic] }, false)).toContain(`\n   | ${before}^^^\n`);
});

test('the JSON format has lines, columns and counts', () => {
  const report: unknown = JSON.parse(formatJson(input));
  expect(report).toMatchObject({
    errors: 1,
    warnings: 1,
    diagnostics: [
      { code: 'check/unknown-type', file: 'dir/a,b.svc', start: { line: 2, column: 7 }, end: { line: 2, column: 12 } },
      { related: [{ message: 'the first one', start: { line: 1, column: 7 } }] },
    ],
  });
});

test('the GitHub format has one escaped command per problem', () => {
  expect(formatGithub(input).split('\n')).toEqual([
    '::error file=dir/a%2Cb.svc,line=2,endLine=2,col=7,endColumn=12,title=check/unknown-type::There is no type "Strng".%0ADid you mean "string"?',
    '::warning file=dir/a%2Cb.svc,line=4,endLine=4,col=7,endColumn=11,title=check/duplicate-name::100%25 twice%0Areally',
    '',
  ]);
});

test('the SARIF format has one result per problem, each with its rule', () => {
  const report: unknown = JSON.parse(formatSarif(input, '1.2.3'));
  expect(report).toMatchObject({
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'svc',
            version: '1.2.3',
            rules: [{ id: 'check/duplicate-name' }, { id: 'check/unknown-type' }],
          },
        },
        results: [
          {
            ruleId: 'check/unknown-type',
            ruleIndex: 1,
            level: 'error',
            locations: [{ physicalLocation: { region: { startLine: 2, startColumn: 7 } } }],
          },
          {
            ruleId: 'check/duplicate-name',
            ruleIndex: 0,
            level: 'warning',
            relatedLocations: [{ message: { text: 'the first one' } }],
          },
        ],
      },
    ],
  });
});

test('every format is valid if there are no problems', () => {
  const nothing = { files: [file], diagnostics: [] };
  expect(formatPretty(nothing, false)).toBe('');
  expect(formatGithub(nothing)).toBe('');
  expect(JSON.parse(formatJson(nothing))).toEqual({ errors: 0, warnings: 0, diagnostics: [] });
  expect(JSON.parse(formatSarif(nothing, '1.0.0'))).toMatchObject({ runs: [{ results: [] }] });
});

test('the JSON format has the fix of a problem: a place and the text that replaces it', () => {
  const { diagnostics } = JSON.parse(formatJson(input)) as { readonly diagnostics: readonly object[] };
  const place = { file: 'dir/a,b.svc', start: { line: 2, column: 7 }, end: { line: 2, column: 12 } };
  expect(diagnostics[0]).toHaveProperty('fix', { ...place, text: 'string' });
  expect(diagnostics[1]).not.toHaveProperty('fix');
});

test('the SARIF format has the fix of a problem as an object of SARIF', () => {
  const { runs } = JSON.parse(formatSarif(input, '1.0.0')) as {
    readonly runs: readonly [{ readonly results: readonly object[] }];
  };
  const [twiceResult, unknownResult] = runs[0].results.toReversed();
  expect(unknownResult).toHaveProperty('fixes', [
    {
      description: { text: 'Write "string".' },
      artifactChanges: [
        {
          artifactLocation: { uri: 'dir/a%2Cb.svc' },
          replacements: [
            {
              deletedRegion: { startLine: 2, startColumn: 7, endLine: 2, endColumn: 12 },
              insertedContent: { text: 'string' },
            },
          ],
        },
      ],
    },
  ]);
  expect(twiceResult).not.toHaveProperty('fixes');
});
