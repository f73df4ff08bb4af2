import { expect, test } from 'vitest';
import { compile } from '../../../src/compiler/compile.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { OPTIONS } from './sample-files.ts';

const ASK = 'function Ask(q: string) -> Answer {\n  client Model\n  prompt #"{{ q }} {{ ctx.output_format }}"#\n}\n';
const ANSWER = 'class Answer {\n  text string\n}\n';
const MODEL = 'client<llm> Model {\n  provider offline\n}\n';

function compileTexts(...texts: readonly string[]): ReturnType<typeof compile> {
  return compile(
    texts.map((text, index) => new SourceFile(`${index}.svc`, text)),
    OPTIONS,
  );
}

test('definitions in one file are visible in all others, in any order', () => {
  for (const texts of [
    [ASK, ANSWER, MODEL],
    [MODEL, ANSWER, ASK],
  ]) {
    const { diagnostics, program } = compileTexts(...texts);
    expect(diagnostics).toEqual([]);
    expect(program?.functions.map(({ name }) => name)).toEqual(['Ask']);
  }
});

test('the problems of all files are reported, sorted by file and position', () => {
  const { diagnostics, program } = compileTexts('class A {\n  x Missing\n  y: int\n}\n', ASK, 'clas B {\n}\n');
  expect(program).toBeUndefined();
  expect(diagnostics.map(({ code, span }) => `${span.file} ${code}`)).toEqual([
    '0.svc check/unknown-type',
    '0.svc parse/colon-after-name',
    '1.svc check/unknown-type',
    '1.svc check/unknown-client',
    '2.svc parse/unknown-declaration',
  ]);
});

test('a name that two files declare is reported with both positions', () => {
  const { diagnostics } = compileTexts(ANSWER, ANSWER);
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]?.span.file).toBe('1.svc');
  expect(diagnostics[0]?.related?.[0]?.span.file).toBe('0.svc');
});

test('functions whose body is code are omitted with a warning, which beta suppresses', () => {
  const workflow = 'function Twice(x: int) -> int {\n  x + x\n}\n';
  const { diagnostics, program } = compileTexts(workflow, ASK, ANSWER, MODEL);
  expect(diagnostics.map(({ code }) => code)).toEqual(['parse/workflow']);
  expect(program?.functions.map(({ name }) => name)).toEqual(['Ask']);
  const file = new SourceFile('a.svc', workflow);
  expect(compile([file], { ...OPTIONS, beta: true }).diagnostics).toEqual([]);
});
