import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Expression, Template } from '../../../schema/template.ts';
import type { TemplateSource } from '../dedent.ts';
import { ExpressionParser, StatementParser } from './template-grammar.ts';
import {
  ParseContext,
  TokenReader,
  tokenizeExpression,
  type Chunk,
  type TokenizeContext,
} from './tokenize-expression.ts';
import { unclosedBlock, unclosedTag } from '../../../diagnostics/catalogue/template.ts';

/**
 * Parses a prompt or the body of a template_string. Always returns a template, without the tags that have errors; each of
 * those has one diagnostic. Takes linear time, and reports nesting beyond a limit.
 */
export function parseTemplate(source: TemplateSource): {
  readonly template: Template;
  readonly diagnostics: readonly Diagnostic[];
} {
  const context = new ParseContext(source);
  const body = new StatementParser(context, splitTemplate(context)).parse();
  return { template: { file: source.file, body }, diagnostics: context.diagnostics };
}

/** Parses the text between the braces of `@assert(…, {{ here }})`. Returns no expression if it has an error. */
export function parseExpression(source: TemplateSource): {
  readonly expression?: Expression;
  readonly diagnostics: readonly Diagnostic[];
} {
  const context = new ParseContext(source);
  const { tokens, sound } = tokenizeExpression(context, 0);
  if (!sound) return { diagnostics: context.diagnostics };
  const reader = new TokenReader(context, tokens);
  const expression = new ExpressionParser(reader).parse();
  reader.expectEnd();
  return reader.failed ? { diagnostics: context.diagnostics } : { expression, diagnostics: context.diagnostics };
}

/**
 * The effect of a tag on adjacent text: `-` trims all white space, `+` trims nothing, `block` follows trim_blocks and
 * lstrip_blocks.
 */
type Trim = '-' | '+' | 'block' | 'none';

interface TextEdges {
  readonly left: Trim;
  readonly right: Trim;
}

const END_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/gu;

/**
 * Splits a template into text and tags in one pass. Resolves comments, `raw` blocks and whitespace control: a line with
 * only a block tag adds nothing to the output.
 */
function splitTemplate(context: TokenizeContext): readonly Chunk[] {
  return new Splitter(context).run();
}

class Splitter {
  readonly #context: TokenizeContext;
  readonly #text: string;
  readonly #chunks: Chunk[] = [];
  #at = 0;
  #left: Trim = 'none';

  constructor(context: TokenizeContext) {
    this.#context = context;
    this.#text = context.text;
  }

  run(): readonly Chunk[] {
    for (;;) {
      const open = nextTag(this.#text, this.#at);
      if (open < 0) break;
      const sign = this.#text.charAt(open + 1);
      const written = this.#text.charAt(open + 2);
      const control = written === '-' || written === '+' ? written : '';
      this.#addText(open, trimOf(control, sign !== '{'));
      this.#tag(open, sign, control.length);
    }
    this.#addText(this.#text.length, 'none');
    return this.#chunks;
  }

  #tag(open: number, sign: string, controlLength: number): void {
    if (sign === '#') this.#comment(open);
    else if (sign === '{') this.#expressionTag('print', open, controlLength);
    else this.#expressionTag('block', open, controlLength);
  }

  #comment(open: number): void {
    const close = this.#text.indexOf('#}', open + 2);
    if (close < 0) {
      this.#context.report(unclosedTag(this.#context.span(open, open + 2), '{#', '#}'));
      this.#at = this.#text.length;
      return;
    }
    const before = close > open + 2 ? this.#text.charAt(close - 1) : '';
    this.#at = close + 2;
    this.#left = trimOf(before === '-' || before === '+' ? before : '', true);
  }

  #expressionTag(kind: 'print' | 'block', open: number, controlLength: number): void {
    const tag = tokenizeExpression(this.#context, open + 2 + controlLength, kind === 'print' ? '}}' : '%}');
    this.#at = tag.end;
    this.#left = trimOf(tag.control, kind === 'block');
    if (!tag.sound) return;
    if (kind === 'block' && isWord(tag.tokens, 'raw')) this.#raw(open);
    else this.#chunks.push({ kind, tokens: tag.tokens, start: open, end: tag.end });
  }

  #raw(open: number): void {
    END_RAW.lastIndex = this.#at;
    const end = END_RAW.exec(this.#text);
    if (end === null) {
      this.#context.report(unclosedBlock(this.#context.span(open, this.#at), 'raw'));
      this.#at = this.#text.length;
      return;
    }
    this.#addText(end.index, trimOf(end[1] ?? '', true));
    this.#at = end.index + end[0].length;
    this.#left = trimOf(end[2] ?? '', true);
  }

  #addText(end: number, right: Trim): void {
    const start = this.#at;
    const text = trimText(this.#text.slice(start, end), { left: this.#left, right }, start === 0);
    if (text !== '') this.#chunks.push({ kind: 'text', text, start, end });
    this.#at = end;
    this.#left = 'none';
  }
}

function nextTag(text: string, from: number): number {
  for (let at = text.indexOf('{', from); at >= 0; at = text.indexOf('{', at + 1)) {
    const next = text.charAt(at + 1);
    if (next === '{' || next === '%' || next === '#') return at;
  }
  return -1;
}

function trimOf(control: string, block: boolean): Trim {
  if (control === '-' || control === '+') return control;
  return block ? 'block' : 'none';
}

function trimText(raw: string, edges: TextEdges, atStart: boolean): string {
  let from = 0;
  let to = raw.length;
  if (edges.right === '-') to = raw.trimEnd().length;
  else if (edges.right === 'block') to = endBeforeIndentation(raw, atStart);
  if (edges.left === '-') from = raw.length - raw.trimStart().length;
  else if (edges.left === 'block') from = lengthOfLineBreak(raw);
  return raw.slice(from, Math.max(from, to));
}

/** lstrip_blocks: returns the start of the white space between the last line break and the tag. */
function endBeforeIndentation(raw: string, atStart: boolean): number {
  let at = raw.length;
  while (at > 0 && (raw.charAt(at - 1) === ' ' || raw.charAt(at - 1) === '\t')) at -= 1;
  const lineBegins = at === 0 ? atStart : raw.charAt(at - 1) === '\n';
  return lineBegins ? at : raw.length;
}

/** trim_blocks: returns the length of the line break directly after a tag. */
function lengthOfLineBreak(raw: string): number {
  if (raw.startsWith('\r\n')) return 2;
  return raw.startsWith('\n') ? 1 : 0;
}

function isWord(tokens: readonly { readonly text: string }[], word: string): boolean {
  return tokens.length === 2 && tokens[0]?.text === word;
}
