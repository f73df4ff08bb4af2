import { readdirSync, readFileSync } from 'node:fs';
import { tokenize } from '../../../src/compiler/1-parse/tokenize.ts';
import { parse } from '../../../src/compiler/1-parse/parse.ts';
import { compile } from '../../../src/compiler/compile.ts';
import { formatSource } from '../../../src/compiler/format-source.ts';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { formatPretty } from '../../../src/diagnostics/report-formats.ts';
import type { Random } from '../../recover/random.ts';
import { broken, pollution, type Outcome, type Target } from '../target.ts';

const OPTIONS = { version: '0.1.0', versionCheck: true, beta: true, apiKey: false };

/** The folders of the initial definition files, relative to the root of the project, where the command runs. */
const FOLDERS = ['svc_src', 'test/compiler/samples', 'bench/compat/projects'];

/** Longer files would take most of the time. */
const MAX_FILE = 4_000;

export function definitionTarget(): Target<string> {
  const files = FOLDERS.flatMap(filesIn);
  return {
    name: 'definition',
    covers: ['/src/compiler/', '/src/diagnostics/'],
    dictionary: [...WORDS, ...new Set(files.flatMap((text) => text.match(/[\w@.]+|[^\s\w]+/gu) ?? []))],
    seeds: files,
    generate: (random) => generate(files, random),
    check,
  };
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:svc|baml)$/u.test(path))
    .toSorted()
    .map((path) => readFileSync(`${folder}/${path}`, 'utf8'))
    .filter((text) => text.length <= MAX_FILE);
}

const WORDS = [
  '#"',
  '"#',
  '##"',
  '{{',
  '}}',
  '{%',
  '%}',
  '"',
  '\\',
  '\r\n',
  '\t',
  '//',
  '/*',
  '*/',
  '///',
  '__proto__',
];

/** Parts of two files, one after the other. */
function generate(files: readonly string[], random: Random): string {
  const [first, second] = [random.pick(files), random.pick(files)];
  return first.slice(0, random.int(0, first.length)) + second.slice(random.int(0, second.length));
}

function check(text: string): Outcome {
  const file = new SourceFile('main.svc', text);
  const { diagnostics, program } = compile([file], OPTIONS);
  const fault = diagnostics.map((each) => diagnosticFault(each, text)).find((each) => each !== undefined);
  if (fault !== undefined) return fault;
  if (formatPretty({ files: [file], diagnostics }, false) === '' && diagnostics.length > 0) {
    return broken('an empty report', JSON.stringify(diagnostics[0]));
  }
  const failed = diagnostics.some(({ severity }) => severity === 'error');
  if (failed === (program !== undefined)) return broken('a program with errors, or none without', text);
  return formatFault(file, diagnostics) ?? pollution() ?? {};
}

function diagnosticFault(diagnostic: Diagnostic, text: string): Outcome | undefined {
  const { code, message, span, related = [] } = diagnostic;
  for (const { start, end } of [span, ...related.map((each) => each.span)]) {
    const valid = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= text.length;
    if (!valid) return broken(`${code} has a span outside the file`, JSON.stringify(diagnostic));
  }
  return message === '' ? broken(`${code} has no message`, JSON.stringify(diagnostic)) : undefined;
}

/** Formatting needs a text without syntax errors. It changes only white space, and nothing the second time. */
function formatFault(file: SourceFile, diagnostics: readonly Diagnostic[]): Outcome | undefined {
  const { readable, diagnostics: found } = parse(file);
  if (!readable || found.some(({ severity }) => severity === 'error')) return undefined;
  const once = formatSource(file.text);
  if (formatSource(once) !== once)
    return broken('formatting twice differs from once', `${once}\n---\n${formatSource(once)}`);
  if (wordsOf(once) !== wordsOf(file.text)) return broken('formatting changes words', `${once}\n---\n${file.text}`);
  const after = compile([new SourceFile('main.svc', once)], OPTIONS).diagnostics;
  if (codesOf(after) === codesOf(diagnostics)) return undefined;
  return broken('formatting changes the verdict', `${codesOf(diagnostics)} became ${codesOf(after)}:\n${once}`);
}

function wordsOf(text: string): string {
  const words = tokenize(text).filter(({ tokenType }) => tokenType.name !== 'WhiteSpace');
  return JSON.stringify(
    words.map(({ image, tokenType }) => (tokenType.name.endsWith('Comment') ? image.trimEnd() : image)),
  );
}

function codesOf(diagnostics: readonly Diagnostic[]): string {
  return diagnostics
    .map(({ code }) => code)
    .toSorted()
    .join();
}
