import type { Diagnostic, Fix, RelatedSpan, Severity } from './diagnostic.ts';
import type { Position, SourceFile } from './source-file.ts';
import type { Span } from './span.ts';
import { isCredentialName, credentialsIn } from '../base/credentials.ts';

/*
 * The formats in which `svc check` reports diagnostics.
 */

/** The input of every report format. */
export interface ReportInput {
  readonly diagnostics: readonly Diagnostic[];
  /** Includes every file to which a span of the diagnostics refers. */
  readonly files: readonly SourceFile[];
}

/** Finds the file of a span, and the positions of its ends. */
export class SpanLocator {
  readonly #files: ReadonlyMap<string, SourceFile>;

  constructor(files: readonly SourceFile[]) {
    this.#files = new Map(files.map((file) => [file.path, file]));
  }

  file(span: Span): SourceFile | undefined {
    return this.#files.get(span.file);
  }

  /** Returns the beginning of the file if it is not among the files. */
  range(span: Span): { readonly start: Position; readonly end: Position } {
    const file = this.file(span);
    const first = { line: 1, column: 1 };
    return { start: file?.positionAt(span.start) ?? first, end: file?.positionAt(span.end) ?? first };
  }
}

// --- pretty ----------------------------------------------------------------------------------------------------------

/** For people: each problem with its place, the lines around it, what to do, and the other locator it has to do with. */
export function formatPretty(input: ReportInput, colour: boolean): string {
  const locator = new SpanLocator(input.files);
  const paint = colour ? COLOURED : PLAIN;
  return input.diagnostics.map((diagnostic) => `${describe(diagnostic, locator, paint)}\n`).join('\n');
}

function describe(diagnostic: Diagnostic, locator: SpanLocator, paint: Paint): string {
  const { severity, code, message, help, span, related } = diagnostic;
  const lines = [
    `${paint.severity(severity, severity)}${paint.dim(` ${code}`)} ${paint.bold(visible(message))}`,
    ...located(span, locator, paint, '^'),
  ];
  if (help !== undefined) lines.push(`   ${paint.dim('=')} ${visible(help).replaceAll('\n', '\n     ')}`);
  for (const other of related ?? []) lines.push(...alsoAt(other, locator, paint));
  return lines.join('\n');
}

function alsoAt({ span, message }: RelatedSpan, locator: SpanLocator, paint: Paint): readonly string[] {
  return [`   ${paint.dim('=')} ${visible(message)}:`, ...located(span, locator, paint, '-')];
}

function located(span: Span, locator: SpanLocator, paint: Paint, mark: '^' | '-'): readonly string[] {
  const { line, column } = locator.range(span).start;
  const file = locator.file(span);
  const place = `  ${paint.dim('-->')} ${visible(span.file)}:${String(line)}:${String(column)}`;
  return file === undefined ? [place] : [place, codeFrame(file, span, paint, mark)];
}

// --- JSON ------------------------------------------------------------------------------------------------------------

/** For programs: one object with all problems. Lines and columns start at 1; columns count UTF-16 units. */
export function formatJson(input: ReportInput): string {
  const locator = new SpanLocator(input.files);
  const place = (span: Span): object => ({ file: span.file, ...locator.range(span) });
  const diagnostics = input.diagnostics.map(({ severity, code, message, help, span, related, fix }) => ({
    severity,
    code,
    message,
    help,
    ...place(span),
    related: related?.map((other) => ({ message: other.message, ...place(other.span) })),
    fix: fix && { ...place(fix.span), text: fix.text },
  }));
  const errors = input.diagnostics.filter(({ severity }) => severity === 'error').length;
  return `${JSON.stringify({ errors, warnings: input.diagnostics.length - errors, diagnostics }, undefined, 2)}\n`;
}

// --- GitHub ----------------------------------------------------------------------------------------------------------

/**
 * Workflow commands, one per line. GitHub shows them next to the changed lines.
 * See "Workflow commands for GitHub Actions", section "Setting an error message".
 */
export function formatGithub(input: ReportInput): string {
  const locator = new SpanLocator(input.files);
  return input.diagnostics.map((diagnostic) => `${workflowCommand(diagnostic, locator)}\n`).join('');
}

function workflowCommand({ severity, code, message, help, span }: Diagnostic, locator: SpanLocator): string {
  const { start, end } = locator.range(span);
  const properties = [
    `file=${commandProperty(span.file)}`,
    `line=${String(start.line)}`,
    `endLine=${String(end.line)}`,
    // GitHub accepts columns only for a range within one line.
    ...(start.line === end.line ? [`col=${String(start.column)}`, `endColumn=${String(end.column)}`] : []),
    `title=${commandProperty(code)}`,
  ];
  return `::${severity} ${properties.join(',')}::${commandData(help === undefined ? message : `${message}\n${help}`)}`;
}

function commandData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function commandProperty(text: string): string {
  return commandData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

// --- SARIF -----------------------------------------------------------------------------------------------------------

const SARIF_SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** SARIF 2.1.0, the format of code scanning services. `version` is the version of svc. */
export function formatSarif(input: ReportInput, version: string): string {
  const locator = new SpanLocator(input.files);
  const errors = new Set(input.diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code));
  const codes = [...new Set(input.diagnostics.map(({ code }) => code))].toSorted();
  // In a block that svc does not run, an error is a warning, so a result can have a lower level than its rule.
  const rules = codes.map((id) => ({ id, defaultConfiguration: { level: errors.has(id) ? 'error' : 'warning' } }));
  const run = {
    tool: { driver: { name: 'svc', version, rules } },
    columnKind: 'utf16CodeUnits',
    results: input.diagnostics.map((diagnostic) => sarifResult(diagnostic, codes, locator)),
  };
  return `${JSON.stringify({ $schema: SARIF_SCHEMA, version: '2.1.0', runs: [run] }, undefined, 2)}\n`;
}

function sarifResult(diagnostic: Diagnostic, codes: readonly string[], locator: SpanLocator): object {
  const { code, severity, message, help, span, related, fix } = diagnostic;
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: help === undefined ? message : `${message} ${help}` },
    locations: [sarifLocation(span, locator)],
    ...(related !== undefined && {
      relatedLocations: related.map((other) => ({
        ...sarifLocation(other.span, locator),
        message: { text: other.message },
      })),
    }),
    ...(fix !== undefined && { fixes: [sarifFix(fix, locator)] }),
  };
}

/** Section 3.55 of SARIF 2.1.0. */
function sarifFix({ span, text }: Fix, locator: SpanLocator): object {
  const { artifactLocation, region } = sarifPlace(span, locator);
  const replacements = [{ deletedRegion: region, insertedContent: { text } }];
  return { description: { text: `Write "${text}".` }, artifactChanges: [{ artifactLocation, replacements }] };
}

function sarifLocation(span: Span, locator: SpanLocator): object {
  return { physicalLocation: sarifPlace(span, locator) };
}

function sarifPlace(span: Span, locator: SpanLocator): { readonly artifactLocation: object; readonly region: object } {
  const { start, end } = locator.range(span);
  return {
    artifactLocation: { uri: span.file.split('/').map(encodeURIComponent).join('/') },
    region: {
      startLine: start.line,
      startColumn: start.column,
      endLine: end.line,
      endColumn: end.column,
    },
  };
}

/** A longer line is cut around the marked text. */
const MAX_WIDTH = 120;
const TAB = '  ';
/** Control characters and changes of direction, with which the text of a file could manipulate the terminal. */
const CONTROL = /(?!\n)[\p{Cc}\u2028-\u202E\u2066-\u2069]/gu;
/** Characters that occupy two columns of a terminal. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/gu;
/** Characters that occupy no column: combining marks and joiners. */
const NARROW = /[\p{Mn}\p{Me}\u200B-\u200D]/gu;

/**
 * The line with the span and the one before it, with their numbers, and marks under the span. Literal credentials are masked:
 *
 *      |
 *    3 | class A {
 *    4 |   owner Persn
 *      |         ^^^^^
 */
export function codeFrame(file: SourceFile, span: Span, paint: Paint, mark: '^' | '-' = '^'): string {
  const { line, column } = file.positionAt(span.start);
  const whole = maskedText(file);
  const text = file.lineText(line, whole);
  const length = Math.min(span.end - span.start, text.length - (column - 1));
  const window = windowOf(column - 1);
  const before = visible(text.slice(window.start, column - 1));
  const marked = visible(text.slice(column - 1, Math.min(column - 1 + length, window.end)));
  const width = String(line).length;
  const margin = (content: string): string => paint.dim(`${content.padStart(width + 1)} |`);
  const marks = ' '.repeat(columns(before)) + paint.mark(mark.repeat(Math.max(1, columns(marked))));
  const shown = [`${margin(String(line))} ${visible(text.slice(window.start, window.end))}`, `${margin('')} ${marks}`];
  const previous = line > 1 ? file.lineText(line - 1, whole) : '';
  if (previous.trim() !== '' && window.start === 0) {
    shown.unshift(`${margin(String(line - 1))} ${visible(previous.slice(0, MAX_WIDTH))}`);
  }
  return [margin(''), ...shown].join('\n');
}

/** Makes text of a file safe to print: replaces tabs by spaces, and control characters by a dot. */
export function visible(text: string): string {
  return text.replaceAll('\t', TAB).replace(CONTROL, '\u00B7');
}

function windowOf(at: number): { readonly start: number; readonly end: number } {
  const start = at < MAX_WIDTH - 20 ? 0 : at - 20;
  return { start, end: start + MAX_WIDTH };
}

function columns(text: string): number {
  return [...text].length + (text.match(WIDE)?.length ?? 0) - (text.match(NARROW)?.length ?? 0);
}

/** Adds the colours of a terminal to the parts of a report. */
export interface Paint {
  severity(severity: Severity, text: string): string;
  mark(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

export const PLAIN: Paint = { severity: (_severity, text) => text, mark: same, dim: same, bold: same };

/** Uses the colours that every terminal has. */
export const COLOURED: Paint = {
  severity: (severity, text) => sequence(severity === 'error' ? '1;31' : '1;33', text),
  mark: (text) => sequence('31', text),
  dim: (text) => sequence('2', text),
  bold: (text) => sequence('1', text),
};

function same(text: string): string {
  return text;
}

function sequence(code: string, text: string): string {
  return `\u001B[${code}m${text}\u001B[0m`;
}

const masked = new WeakMap<SourceFile, string>();

/**
 * The text of a file for a report, with asterisks in the place of literal credentials: values of options and headers whose names
 * look like credentials, and passwords and keys in URLs. Names of fields and arguments do not make their values credentials. All
 * other characters keep their offsets.
 */
export function maskedText(file: SourceFile): string {
  const known = masked.get(file);
  if (known !== undefined) return known;
  const text = maskLiterals(file.text);
  masked.set(file, text);
  return text;
}

/** A string on one line, the start of a raw string, a word, or a bracket of a block. An unclosed string ends with its line. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|#{1,16}"|[\w$.-]+|[{}]/gu;

/** Between a name and its value. */
const BETWEEN = /^[ \t]*[:=]?[ \t]*$/u;

/** A value without quotes, as an error can contain it: `api_key sk-1234`. Names of types rarely look like that. */
const BARE_KEY = /^(?!env\.)(?=.*\d)[\w$.-]{8,}$/u;

interface Token {
  readonly start: number;
  readonly end: number;
  /** The content without quotes. */
  readonly content: string;
  readonly isString: boolean;
}

/** Definitions of data: the names in them belong to the project. */
const DATA_DEFINITIONS: ReadonlySet<string> = new Set(['class', 'enum', 'test', 'type']);

const OTHER_DEFINITIONS: ReadonlySet<string> = new Set([
  'client',
  'dynamic',
  'function',
  'generator',
  'retry_policy',
  'template_string',
]);

function maskLiterals(text: string): string {
  let result = '';
  let done = 0;
  const blocks: string[] = [];
  let name: Token | undefined;
  let inData = false;
  for (const token of tokensOf(text)) {
    if (beginsDefinition(token, text, blocks.length)) inData = DATA_DEFINITIONS.has(token.content);
    if (!token.isString && /^[{}]$/u.test(token.content)) {
      if (token.content === '{') blocks.push(name?.content ?? '');
      else blocks.pop();
      name = undefined;
      continue;
    }
    const named = name !== undefined && BETWEEN.test(text.slice(name.end, token.start)) ? name.content : undefined;
    const clean =
      named === undefined ? token.content : maskedValue(token, inData ? undefined : named, blocks.at(-1) ?? '');
    if (clean !== token.content) {
      const from = text.indexOf(token.content, token.start);
      result += text.slice(done, from) + clean;
      done = from + token.content.length;
    }
    // A string after a name is its value; any other can be a name itself.
    name = named !== undefined && token.isString ? undefined : token;
  }
  return result + text.slice(done);
}

/** The blocks of a broken file can be out of balance, so a word in the first column begins a definition in any block. */
function beginsDefinition({ content, isString, start, end }: Token, text: string, depth: number): boolean {
  if (isString || !(DATA_DEFINITIONS.has(content) || OTHER_DEFINITIONS.has(content))) return false;
  if (content === 'client' && text[end] === '<') return true;
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  return before === '' || (depth === 0 && before.trim() === '');
}

function* tokensOf(text: string): Generator<Token> {
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const start = match.index;
    const [found] = match;
    if (found.startsWith('#')) {
      const from = start + found.length;
      const close = text.indexOf(`"${'#'.repeat(found.length - 1)}`, from);
      const to = close < 0 ? text.length : close;
      const end = Math.min(text.length, to + found.length);
      yield { start, end, content: text.slice(from, to), isString: true };
      TOKEN.lastIndex = end;
    } else {
      const isString = found.startsWith('"');
      const content = isString ? found.replace(/^"|(?<=.)"$/gu, '') : found;
      yield { start, end: start + found.length, content, isString };
      TOKEN.lastIndex = start + found.length;
    }
  }
}

/** `name`: undefined if names have no meaning here. */
function maskedValue({ content, isString }: Token, name: string | undefined, block: string): string {
  if (name === undefined) return isString && !content.trimStart().startsWith('{') ? starred(content, content) : content;
  if (!isString) return isCredentialName(name) && BARE_KEY.test(content) ? stars(content) : content;
  if (isCredentialName(name)) return stars(content);
  const inHeaders = /^(?:headers|query_params)$/u.test(block);
  return starred(content, inHeaders ? { headers: { [name]: content } } : { [name]: content });
}

function starred(text: string, options: unknown): string {
  let clean = text;
  for (const secret of credentialsIn(options)) clean = clean.replaceAll(secret, stars(secret));
  return clean;
}

function stars(text: string): string {
  return text.replaceAll(/[^\r\n]/g, '*');
}
