import { DiagnosticSeverity, DiagnosticTag } from 'vscode-languageserver-protocol';
import { expect, test, vi } from 'vitest';
import { completionsAt } from '../../../src/dev/lsp/completion.ts';
import { hoverAt } from '../../../src/dev/lsp/hover.ts';
import { definitionsAt, renameAt } from '../../../src/dev/lsp/navigation.ts';
import { codeLenses, documentSymbols, foldingRanges, formattingEdits } from '../../../src/dev/lsp/outline.ts';
import { uriOf } from '../../../src/dev/lsp/places.ts';
import { problemsByFile, quickFixes } from '../../../src/dev/lsp/problems.ts';
import { semanticTokens } from '../../../src/dev/lsp/semantic-tokens.ts';
import type { Fix } from '../../../src/diagnostics/diagnostic.ts';
import { applied, at, edited, workspace } from './edited.ts';

test('a problem has its code, its help in the message, and the related place', () => {
  const { program } = edited({ 'a.svc': 'class A {\n  b int\n}\n', 'b.svc': 'class A {\n  c int\n}\n' });
  expect(problemsByFile(program, workspace).get(at('a.svc'))).toEqual([]);
  const [problem] = problemsByFile(program, workspace).get(at('b.svc')) ?? [];
  expect(problem).toMatchObject({
    code: 'check/duplicate-name',
    source: 'svc',
    severity: DiagnosticSeverity.Error,
    range: { start: { line: 0, character: 6 }, end: { line: 0, character: 7 } },
    relatedInformation: [{ location: { uri: uriOf(at('a.svc')), range: { start: { line: 0, character: 6 } } } }],
  });
  expect(problem?.message).toMatch(/^.+\n.+$/u);
});

test('unused definitions are faded warnings', () => {
  const { program } = edited({ 'a.svc': 'retry_policy P {\n  max_retries 1\n}\n' });
  expect(problemsByFile(program, workspace).get(at('a.svc'))).toMatchObject([
    { code: 'check/unused-retry-policy', severity: DiagnosticSeverity.Warning, tags: [DiagnosticTag.Unnecessary] },
  ]);
});

const MISTAKE = 'class A {\n  b Strin\n}\n';

/** The quick fixes in a range of characters of line 1, with a correction of the only problem. */
function fixed(fix: Fix | undefined, [start, end]: readonly [number, number]) {
  const { program } = edited({ 'a.svc': MISTAKE });
  const analysis = program.analysis();
  const diagnostics = analysis.diagnostics.map(({ fix: _own, ...diagnostic }) => ({
    ...diagnostic,
    ...(fix !== undefined && { fix }),
  }));
  vi.spyOn(program, 'analysis').mockReturnValue({ ...analysis, diagnostics });
  const range = { start: { line: 1, character: start }, end: { line: 1, character: end } };
  return { program, actions: quickFixes(program, workspace, at('a.svc'), range) };
}

test.each<readonly [string, Fix, string, string]>([
  [
    'a change',
    { span: { file: at('a.svc'), start: 14, end: 19 }, text: 'string' },
    'Change to "string"',
    'class A {\n  b string\n}\n',
  ],
  [
    'an insertion',
    { span: { file: at('a.svc'), start: 19, end: 19 }, text: 'g' },
    'Insert "g"',
    'class A {\n  b String\n}\n',
  ],
  [
    'a removal',
    { span: { file: at('a.svc'), start: 14, end: 19 }, text: '' },
    'Remove "Strin"',
    'class A {\n  b \n}\n',
  ],
  [
    'a string',
    { span: { file: at('a.svc'), start: 14, end: 19 }, text: '"x"' },
    'Change to "x"',
    'class A {\n  b "x"\n}\n',
  ],
])('the correction of a problem is a preferred quick fix: %s', (_what, fix, title, after) => {
  const { program, actions } = fixed(fix, [5, 5]);
  const [action] = actions;
  expect(actions.length).toBe(1);
  expect(action).toMatchObject({ title, kind: 'quickfix', isPreferred: true });
  expect(action?.diagnostics).toEqual(problemsByFile(program, workspace).get(at('a.svc')));
  const edits = action?.edit?.changes?.[uriOf(at('a.svc'))] ?? [];
  expect(applied(program, at('a.svc'), edits)).toBe(after);
});

test('the fix of a misspelt name is its quick fix', () => {
  const { program } = edited({ 'a.svc': MISTAKE });
  const position = { line: 1, character: 4 };
  const [action] = quickFixes(program, workspace, at('a.svc'), { start: position, end: position });
  const edits = action?.edit?.changes?.[uriOf(at('a.svc'))] ?? [];
  expect(applied(program, at('a.svc'), edits)).toBe('class A {\n  b string\n}\n');
});

test('a problem without a correction, or outside of the range, has no quick fix', () => {
  expect(fixed(undefined, [5, 5]).actions).toEqual([]);
  expect(fixed({ span: { file: at('a.svc'), start: 14, end: 19 }, text: 'x' }, [0, 2]).actions).toEqual([]);
});

const WHOLE = `class Person {
  name string @check(x, {{ this|length > 0 }})
}
function F(person: Person) -> Person {
  client C
  prompt #"
    {% for x in [person] %}{{ x.name|upper }}{% endfor %}{{ _.role("user") }}
  "#
}
client<llm> C {
  provider openai
  options { api_key env.KEY http { version "2" } }
}
test T {
  functions [F]
  args { person { name "a" } }
  @@assert({{ this.name == "a" }})
}
`;

test('no feature fails at any place of any half-written file', async () => {
  const rest = 'enum Mood {\n  Calm\n}\n';
  for (let length = 0; length <= WHOLE.length; length += 1) {
    const { program, path, offset } = edited({ 'a.svc': `${WHOLE.slice(0, length)}‸`, 'b.svc': rest });
    const cursor = { program, path, offset };
    completionsAt({ program, path, offset }, []);
    definitionsAt(workspace, cursor);
    if (length % 10 === 0) renameAt(workspace, cursor, 'Renamed');
    await hoverAt(cursor, async () => undefined);
    codeLenses(program, workspace, path);
    formattingEdits(program, path);
    semanticTokens(program, path);
    const document = program.document(path);
    if (document === undefined) throw new Error('the document is gone');
    for (const { range, selectionRange } of documentSymbols(document)) {
      // A protocol rule: the selection is inside the range.
      expect(selectionRange.start.line * 1000 + selectionRange.start.character).toBeGreaterThanOrEqual(
        range.start.line * 1000 + range.start.character,
      );
      expect(selectionRange.end.line * 1000 + selectionRange.end.character).toBeLessThanOrEqual(
        range.end.line * 1000 + range.end.character,
      );
    }
    foldingRanges(document);
    // The other file keeps its features.
    expect(problemsByFile(program, workspace).get(at('b.svc'))).toEqual([]);
    expect(program.symbolsAt(at('b.svc'), 6).map(({ symbol }) => symbol.name)).toEqual(['Mood']);
  }
});
