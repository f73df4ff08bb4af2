import { readFileSync, realpathSync, statSync } from 'node:fs';
import { compareText } from '../base/json.ts';
import { err, ok, type Result } from '../base/result.ts';
import { replaceFile, writeFault } from '../base/write-file.ts';
import type { Checked } from '../compiler/2-check/check.ts';
import { withFixes, type Diagnostic, type Fix } from '../diagnostics/diagnostic.ts';
import { SourceFile } from '../diagnostics/source-file.ts';

type Files = readonly SourceFile[];
type Check = (files: Files) => Checked;

/** A change that `fixDefinitions` made. */
export interface AppliedFix {
  readonly file: string;
  readonly line: number;
  readonly from: string;
  readonly to: string;
}

interface Fixed {
  readonly files: Files;
  readonly diagnostics: readonly Diagnostic[];
  readonly applied: readonly AppliedFix[];
}

/** A pass can make names known that others then resemble, and each corrects one problem at least. More are hardly possible by hand. */
const MOST_PASSES = 100;

/**
 * Applies the fixes of all diagnostics to the text of the files, except those whose problem remains or that cause a new one.
 * Repeats that until nothing changes. While there are syntax errors, applies only their fixes. Lists the applied ones by file and line.
 */
export function fixDefinitions(files: Files, check: Check): Fixed {
  let fixed: Fixed = { files, diagnostics: check(files).diagnostics, applied: [] };
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const chosen = apart(firstOf(fixed.diagnostics));
    const safe = withSafeFixes(fixed, chosen, check);
    const next = safe === fixed ? withRevealedFixes(fixed, chosen, check) : safe;
    if (next === fixed) break;
    fixed = next;
  }
  return { ...fixed, applied: fixed.applied.toSorted((a, b) => compareText(a.file, b.file) || a.line - b.line) };
}

/** A syntax error can hide the definition that an unknown name means. The nearest of the others would be a wrong one. */
function firstOf(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const ofSyntax = diagnostics.filter(isOfSyntax);
  return ofSyntax.length > 0 ? ofSyntax : diagnostics;
}

function isOfSyntax({ code, severity }: Diagnostic): boolean {
  return severity === 'error' && code.startsWith('parse/');
}

type Fixable = Diagnostic & { readonly fix: Fix };

/** Returns the diagnostics with fixes, without those that overlap an earlier one: the next pass sees them. */
function apart(diagnostics: readonly Diagnostic[]): readonly Fixable[] {
  const ends = new Map<string, number>();
  const fixable = diagnostics.filter((diagnostic): diagnostic is Fixable => diagnostic.fix !== undefined);
  return fixable
    .toSorted((a, b) => a.fix.span.start - b.fix.span.start)
    .filter(({ fix: { span } }) => {
      if (span.start < (ends.get(span.file) ?? 0)) return false;
      ends.set(span.file, span.end);
      return true;
    });
}

/** Applies all fixes at once if that is safe; otherwise, tries each half of them. `chosen` are in the order of their positions. */
function withSafeFixes(before: Fixed, chosen: readonly Fixable[], check: Check): Fixed {
  if (chosen.length === 0) return before;
  const after = fixedBy(before, chosen, check);
  if (isSafe(before.diagnostics, after.diagnostics, chosen)) return after;
  if (chosen.length === 1) return before;
  // The later half first: it does not move the positions of the other.
  const middle = chosen.length >> 1;
  return withSafeFixes(withSafeFixes(before, chosen.slice(middle), check), chosen.slice(0, middle), check);
}

/** The most fixes to try together with those of the problems that they reveal: each costs a check or two. */
const MOST_TRIED = 10;

/** Applies the first fix that is safe together with the fixes of the problems that it reveals: of fields, once their class is known. */
function withRevealedFixes(before: Fixed, chosen: readonly Fixable[], check: Check): Fixed {
  const known = counts(before.diagnostics);
  for (const each of chosen.slice(0, MOST_TRIED)) {
    const first = fixedBy(before, [each], check);
    const revealed = apart(first.diagnostics.filter((diagnostic) => !known.has(keyOf(diagnostic))));
    const after = revealed.length === 0 ? first : fixedBy(first, revealed, check);
    if (isSafe(before.diagnostics, after.diagnostics, [each])) return after;
  }
  return before;
}

function fixedBy(before: Fixed, chosen: readonly Fixable[], check: Check): Fixed {
  const files = before.files.map((file) => edited(file, chosen));
  const applied = [...before.applied, ...chosen.map((each) => change(each, before.files))];
  return { files, diagnostics: check(files).diagnostics, applied };
}

function edited(file: SourceFile, chosen: readonly Fixable[]): SourceFile {
  const own = chosen.flatMap(({ fix }) => (fix.span.file === file.path ? [fix] : []));
  return own.length === 0 ? file : new SourceFile(file.path, withFixes(file.text, own));
}

/**
 * True if all fixed problems are gone and no problem is new, apart from positions. The fix of a syntax error does not cause the other
 * problems of a definition: it reveals them.
 */
function isSafe(before: readonly Diagnostic[], after: readonly Diagnostic[], fixed: readonly Diagnostic[]): boolean {
  const rest = counts(before);
  for (const diagnostic of fixed) rest.set(keyOf(diagnostic), (rest.get(keyOf(diagnostic)) ?? 0) - 1);
  return [...counts(fixed.every(isOfSyntax) ? after.filter(isOfSyntax) : after)].every(
    ([key, count]) => count <= (rest.get(key) ?? 0),
  );
}

function counts(diagnostics: readonly Diagnostic[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const diagnostic of diagnostics) found.set(keyOf(diagnostic), (found.get(keyOf(diagnostic)) ?? 0) + 1);
  return found;
}

function keyOf({ code, severity, span, message }: Diagnostic): string {
  return JSON.stringify([span.file, severity, code, message]);
}

function change({ fix: { span, text } }: Fixable, files: Files): AppliedFix {
  const file = files.find(({ path }) => path === span.file);
  return {
    file: span.file,
    line: file?.positionAt(span.start).line ?? 1,
    from: file?.text.slice(span.start, span.end) ?? '',
    to: text,
  };
}

/**
 * Replaces the changed files. If one of them no longer has the text that svc read, replaces none. The failure is a sentence for the
 * user.
 */
export function writeFixed(before: Files, after: Files): Result<undefined, string> {
  const changed = after.filter((file, index) => file !== before[index]);
  const marks = new Map<string, string>();
  for (const { path } of changed) {
    const mark = markOf(path, before.find((file) => file.path === path)?.text ?? '');
    if (mark === undefined)
      return err(`"${path}" changed while svc checked it, so svc fixed no file. Run the command again`);
    marks.set(path, mark);
  }
  const written: string[] = [];
  for (const { path, text } of changed) {
    try {
      const target = realpathSync(path);
      replaceFile(target, `${marks.get(path) ?? ''}${text}`, statSync(target).mode);
    } catch (error) {
      const others = written.length === 0 ? '' : `. These files are fixed: ${written.join(', ')}`;
      return err(`"${path}" cannot be written: ${writeFault(error)}${others}`);
    }
    written.push(path);
  }
  return ok(undefined);
}

/** Returns the byte order mark of the file, which its text lacks, or an empty string; undefined if the file has another text now. */
function markOf(path: string, text: string): string | undefined {
  try {
    const now = readFileSync(path, 'utf8');
    if (now === text) return '';
    return now === `\uFEFF${text}` ? '\uFEFF' : undefined;
  } catch {
    return undefined;
  }
}
