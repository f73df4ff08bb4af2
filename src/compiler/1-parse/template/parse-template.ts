import type {
  Arguments,
  BinaryOperator,
  Expression,
  ExpressionShape,
  FilterCall,
  AssignmentTarget,
  IfBranch,
  Macro,
  MacroParameter,
  Statement,
  StatementShape,
  Template,
  WithBinding,
} from '../../../schema/template.ts';
import {
  type Token,
  TokenReader,
  ParseContext,
  type Chunk,
  type TagChunk,
  splitTemplate,
  tokenizeExpression,
} from './tokenize-template.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { TemplateSource } from '../dedent.ts';
import { didYouMean, didYouMeanOneOf } from '../../../base/suggestion.ts';

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

/** The most levels of an expression tree (`a ~ b ~ c` has three). Recursive walks of the tree rely on this limit. */
const MAX_DEPTH = 400;

/** Precedence of binary operators, loosest first. All are left-associative. */
const STRENGTH: ReadonlyMap<string, number> = new Map([
  ['or', 1],
  ['and', 2],
  ['in', 4],
  ['not in', 4],
  ...['==', '!=', '<', '<=', '>', '>='].map((operator): [string, number] => [operator, 4]),
  ['+', 5],
  ['-', 5],
  ['~', 6],
  ...['*', '/', '//', '%'].map((operator): [string, number] => [operator, 7]),
  ['**', 8],
]);
const NOT_STRENGTH = 3;

const WORDS_AFTER_TEST = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else', 'recursive']);
const CONSTANTS: ReadonlyMap<string, ExpressionShape> = new Map([
  ['true', { kind: 'boolean', value: true }],
  ['True', { kind: 'boolean', value: true }],
  ['false', { kind: 'boolean', value: false }],
  ['False', { kind: 'boolean', value: false }],
  ['none', { kind: 'none' }],
  ['None', { kind: 'none' }],
]);
const OPERATOR_WORDS = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else']);

/** Precedence climbing over the tokens of one tag. */
class ExpressionParser {
  readonly #reader: TokenReader;
  readonly #depths = new WeakMap<Expression, number>();

  constructor(reader: TokenReader) {
    this.#reader = reader;
  }

  /** Parses any expression, including `a if b else c`. */
  parse(): Expression {
    return this.#reader.nested(() => {
      let result = this.parseWithoutConditional();
      while (this.#reader.skipWord('if')) result = this.#conditional(result);
      return result;
    });
  }

  /** Parses the iterable of a `for`, after which `if` begins the filter. */
  parseWithoutConditional(): Expression {
    return this.#binary(1);
  }

  parseFilters(): readonly FilterCall[] {
    const filters = [this.#filterCall()];
    while (this.#reader.skipOperator('|')) filters.push(this.#filterCall());
    return filters;
  }

  #conditional(value: Expression): Expression {
    const condition = this.parseWithoutConditional();
    if (!this.#reader.skipWord('else'))
      return this.#node({ kind: 'conditional', condition, value }, value, [condition]);
    const otherwise = this.parse();
    return this.#node({ kind: 'conditional', condition, value, otherwise }, value, [condition, otherwise]);
  }

  #binary(weakest: number): Expression {
    let left = this.#operand(weakest);
    for (;;) {
      const operator = this.#binaryOperator();
      const strength = operator === undefined ? 0 : (STRENGTH.get(operator) ?? 0);
      if (operator === undefined || strength < weakest) return left;
      this.#reader.next();
      if (operator === 'not in') this.#reader.next();
      const right = this.#binary(strength + 1);
      left = this.#node({ kind: 'binary', operator, left, right }, left, [right]);
    }
  }

  #binaryOperator(): BinaryOperator | undefined {
    const { current, following } = this.#reader;
    if (current.type !== 'operator' && current.type !== 'name') return undefined;
    if (current.text === 'not' && following.text === 'in' && following.type === 'name') return 'not in';
    return STRENGTH.has(current.text) ? (current.text as BinaryOperator) : undefined;
  }

  #operand(weakest: number): Expression {
    return weakest <= NOT_STRENGTH && this.#reader.isWord('not') ? this.#not() : this.#filtered();
  }

  #not(): Expression {
    const start = this.#reader.next().start;
    const operand = this.#reader.nested(() =>
      this.#reader.isWord('not') ? this.#not() : this.#binary(NOT_STRENGTH + 1),
    );
    return this.#node({ kind: 'unary', operator: 'not', operand }, start, [operand]);
  }

  /** Parses a unary expression with the filters and tests that follow it. */
  #filtered(): Expression {
    let result = this.#unary();
    for (;;) {
      if (this.#reader.skipOperator('|')) {
        const filter = this.#filterCall();
        result = this.#node({ kind: 'filter', input: result, filter }, result, argumentsOf(filter.args));
      } else if (this.#reader.skipWord('is')) result = this.#test(result);
      else return result;
    }
  }

  #unary(): Expression {
    const { current } = this.#reader;
    if (!this.#reader.isOperator('-') && !this.#reader.isOperator('+')) return this.#postfix(this.#primary());
    this.#reader.next();
    const operand = this.#reader.nested(() => this.#unary());
    const operator = current.text === '-' ? '-' : '+';
    return this.#node({ kind: 'unary', operator, operand }, current.start, [operand]);
  }

  #filterCall(): FilterCall {
    const name = this.#reader.expectName('the name of a filter');
    const args = this.#reader.isOperator('(') ? this.#arguments() : NO_ARGUMENTS;
    // Without a name, the previous part ends before the white space.
    const end = Math.max(name.start, this.#reader.previousEnd);
    return { name: name.text, args, ...this.#reader.context.located(name.start, end) };
  }

  #test(input: Expression): Expression {
    const negated = this.#reader.skipWord('not');
    const name = this.#reader.expectName('the name of a test').text;
    const args = this.#testArguments();
    return this.#node({ kind: 'test', input, name, negated, args }, input, argumentsOf(args));
  }

  /** `is divisibleby(3)` or `is divisibleby 3`. */
  #testArguments(): Arguments {
    if (this.#reader.isOperator('(')) return this.#arguments();
    const { type, text } = this.#reader.current;
    const begins = type === 'name' ? !WORDS_AFTER_TEST.has(text) : type !== 'operator' || text === '[' || text === '{';
    if (!begins || type === 'end') return NO_ARGUMENTS;
    return { positional: [this.#reader.nested(() => this.#unary())], named: [] };
  }

  #postfix(primary: Expression): Expression {
    let result = primary;
    for (;;) {
      if (this.#reader.skipOperator('.')) result = this.#attribute(result);
      else if (this.#reader.isOperator('[')) result = this.#subscript(result);
      else if (this.#reader.isOperator('(')) {
        const args = this.#arguments();
        result = this.#node({ kind: 'call', callee: result, args }, result, argumentsOf(args));
      } else return result;
    }
  }

  #attribute(object: Expression): Expression {
    if (this.#reader.current.type === 'integer') {
      const index = this.#primary();
      return this.#node({ kind: 'index', object, index }, object, [index]);
    }
    const name = this.#reader.expectName('the name of an attribute').text;
    return this.#node({ kind: 'attribute', object, name }, object);
  }

  #subscript(object: Expression): Expression {
    this.#reader.next();
    const from = this.#reader.isOperator(':') ? undefined : this.parse();
    if (!this.#reader.isOperator(':')) {
      this.#reader.expectOperator(']');
      const index = from ?? { kind: 'none', start: object.end, end: object.end };
      return this.#node({ kind: 'index', object, index }, object, [index]);
    }
    const to = this.#slicePart();
    const step = this.#slicePart();
    this.#reader.expectOperator(']');
    const parts = { ...(from && { from }), ...(to && { to }), ...(step && { step }) };
    return this.#node({ kind: 'slice', object, ...parts }, object, Object.values(parts));
  }

  #slicePart(): Expression | undefined {
    if (!this.#reader.skipOperator(':')) return undefined;
    return this.#reader.isOperator(':') || this.#reader.isOperator(']') ? undefined : this.parse();
  }

  #arguments(): Arguments {
    const positional: Expression[] = [];
    const named: Array<{ name: string; value: Expression }> = [];
    this.#reader.next();
    while (!this.#reader.isOperator(')') && this.#reader.current.type !== 'end') {
      this.#argument(positional, named);
      if (!this.#reader.skipOperator(',')) break;
    }
    this.#reader.expectOperator(')');
    return { positional, named };
  }

  #argument(positional: Expression[], named: Array<{ name: string; value: Expression }>): void {
    const { current, following } = this.#reader;
    if (current.type === 'name' && following.type === 'operator' && following.text === '=') {
      this.#reader.next();
      this.#reader.next();
      named.push({ name: current.text, value: this.parse() });
      return;
    }
    const { start } = current;
    const value = this.parse();
    if (named.length > 0 && !this.#reader.failed) {
      this.#reader.fail('template/positional-after-named', { start, end: this.#reader.previousEnd }, {});
    }
    positional.push(value);
  }

  #primary(): Expression {
    const token = this.#reader.current;
    switch (token.type) {
      case 'string':
        return this.#strings();
      case 'integer':
      case 'float':
        this.#reader.next();
        return this.#leaf(literal(token), token);
      case 'name':
        return this.#name(token);
      case 'operator':
      case 'end':
        return this.#bracketed(token);
    }
  }

  /** Adjacent strings form one string. */
  #strings(): Expression {
    const { start } = this.#reader.current;
    let value = '';
    while (this.#reader.current.type === 'string') value += this.#reader.next().text;
    return { kind: 'string', value, ...this.#reader.context.located(start, this.#reader.previousEnd) };
  }

  #name(token: Token): Expression {
    if (OPERATOR_WORDS.has(token.text) && !this.#isVariable(token)) return this.#missing();
    this.#reader.next();
    return this.#leaf(CONSTANTS.get(token.text) ?? { kind: 'name', name: token.text }, token);
  }

  /**
   * Where a value is expected, each of these words except "not" names a variable: a parameter can be called "in" or "if".
   * But if a value follows, as in `a or or b`, the word is an operator that lacks its left side.
   */
  #isVariable(token: Token): boolean {
    const { following } = this.#reader;
    if (following.type === 'name') return token.text !== 'not' && OPERATOR_WORDS.has(following.text);
    return token.text !== 'not' && (following.type === 'operator' || following.type === 'end');
  }

  #bracketed(token: Token): Expression {
    if (this.#reader.skipOperator('(')) return this.#group(token);
    if (this.#reader.skipOperator('[')) return this.#list(token, ']', []);
    if (this.#reader.skipOperator('{')) return this.#map(token);
    return this.#missing();
  }

  #missing(): Expression {
    this.#reader.failExpected('a value');
    return this.#leaf({ kind: 'none' }, this.#reader.current);
  }

  /** Parentheses group; with a comma they make a list. */
  #group(open: Token): Expression {
    if (this.#reader.skipOperator(')')) return this.#node({ kind: 'list', items: [] }, open.start, []);
    const first = this.parse();
    if (this.#reader.skipOperator(',')) return this.#list(open, ')', [first]);
    this.#reader.expectOperator(')');
    return first;
  }

  #list(open: Token, closer: string, items: Expression[]): Expression {
    while (!this.#reader.isOperator(closer) && this.#reader.current.type !== 'end') {
      items.push(this.parse());
      if (!this.#reader.skipOperator(',')) break;
    }
    this.#reader.expectOperator(closer);
    return this.#node({ kind: 'list', items }, open.start, items);
  }

  #map(open: Token): Expression {
    const entries: Array<{ key: Expression; value: Expression }> = [];
    while (!this.#reader.isOperator('}') && this.#reader.current.type !== 'end') {
      const key = this.parse();
      this.#reader.expectOperator(':');
      entries.push({ key, value: this.parse() });
      if (!this.#reader.skipOperator(',')) break;
    }
    this.#reader.expectOperator('}');
    const children = entries.flatMap((entry) => [entry.key, entry.value]);
    return this.#node({ kind: 'map', entries }, open.start, children);
  }

  #leaf(shape: ExpressionShape, token: Token): Expression {
    return { ...shape, ...this.#reader.context.located(token.start, token.end) };
  }

  /** Creates a node that begins with `first` (a child, or an offset in the text), and records its depth. */
  #node(shape: ExpressionShape, first: Expression | number, others: readonly Expression[] = []): Expression {
    const end = this.#reader.previousEnd;
    const located = this.#reader.context.located(typeof first === 'number' ? first : 0, end);
    const node = { ...shape, start: typeof first === 'number' ? located.start : first.start, end: located.end };
    let depth = typeof first === 'number' ? 0 : (this.#depths.get(first) ?? 0);
    for (const child of others) depth = Math.max(depth, this.#depths.get(child) ?? 0);
    this.#depths.set(node, depth + 1);
    if (depth >= MAX_DEPTH) this.#reader.failTooDeep();
    return node;
  }
}

const NO_ARGUMENTS: Arguments = { positional: [], named: [] };

function argumentsOf(args: Arguments): readonly Expression[] {
  return args.named.length === 0 ? args.positional : [...args.positional, ...args.named.map((entry) => entry.value)];
}

function literal(token: Token): ExpressionShape {
  const value = Number(token.text);
  return token.type === 'integer' ? { kind: 'integer', value } : { kind: 'float', value };
}

/** The most nested blocks; the parser stops reading the template beyond it. */
const MAX_BLOCKS = 100;

/** The first words of block tags. */
export const STATEMENTS = ['if', 'for', 'set', 'with', 'filter', 'macro', 'call', 'raw'] as const;
const INNER_WORDS = new Set(['elif', 'else', ...STATEMENTS.map((name) => `end${name}`)]);
const RESERVED = new Set(['true', 'True', 'false', 'False', 'none', 'None', 'loop', 'self']);

/** The first word of a block tag, with readers for the rest of the tag. */
interface Tag {
  readonly word: Token;
  readonly reader: TokenReader;
  readonly expressions: ExpressionParser;
  readonly chunk: TagChunk;
}

/** Builds the statements of a template from its chunks. Reports errors in each tag independently. */
class StatementParser {
  readonly #context: ParseContext;
  readonly #chunks: readonly Chunk[];
  readonly #open: string[] = [];
  #at = 0;
  #abandoned = false;
  /** The number of open blocks at the last wrong end tag. Its diagnostic covers the innermost of these blocks. */
  #wronglyEnded = 0;

  constructor(context: ParseContext, chunks: readonly Chunk[]) {
    this.#context = context;
    this.#chunks = chunks;
  }

  parse(): readonly Statement[] {
    return this.#body([]);
  }

  /** Parses statements up to a tag that begins with one of `stops`, and leaves the cursor on that tag. */
  #body(stops: readonly string[]): readonly Statement[] {
    const statements: Statement[] = [];
    for (;;) {
      const chunk = this.#chunks[this.#at];
      if (chunk === undefined) return statements;
      if (chunk.kind === 'block' && this.#stopsAt(chunk, stops)) return statements;
      this.#at += 1;
      const statement = this.#statement(chunk);
      if (statement !== undefined) statements.push(statement);
    }
  }

  /** Also stops at the end of an outer block, so that one missing end tag does not affect the rest. */
  #stopsAt(chunk: TagChunk, stops: readonly string[]): boolean {
    const word = firstWord(chunk);
    return stops.includes(word) || (word.startsWith('end') && this.#open.includes(word.slice(3)));
  }

  #statement(chunk: Chunk): Statement | undefined {
    if (chunk.kind === 'text') return this.#located({ kind: 'text', text: chunk.text }, chunk);
    const reader = new TokenReader(this.#context, chunk.tokens);
    const expressions = new ExpressionParser(reader);
    if (chunk.kind === 'print') {
      const expression = expressions.parse();
      reader.expectEnd();
      return this.#located({ kind: 'print', expression }, chunk);
    }
    const word = reader.expectName('a statement');
    if (reader.failed) return undefined;
    if (chunk.unreadable === true) reader.abandon();
    const shape = this.#block({ word, reader, expressions, chunk });
    return shape === undefined ? undefined : this.#located(shape, chunk);
  }

  #block(tag: Tag): StatementShape | undefined {
    switch (tag.word.text) {
      case 'if':
        return this.#if(tag);
      case 'for':
        return this.#for(tag);
      case 'set':
        return this.#set(tag);
      case 'with':
        return this.#with(tag);
      case 'filter':
        return this.#filter(tag);
      case 'macro':
        return this.#macro(tag);
      case 'call':
        return this.#call(tag);
      default:
        return this.#reportWord(tag);
    }
  }

  #reportWord({ word }: Tag): undefined {
    const { text: name } = word;
    if (this.#abandoned) return undefined;
    if (INNER_WORDS.has(name)) {
      this.#context.report('template/unexpected-end', word, { name, open: this.#open.at(-1) });
      if (name.startsWith('end')) this.#wronglyEnded = this.#open.length;
    } else {
      // Every inner word begins with "e", and no statement does: "edif" is nearer to "endif" than to "if".
      const inner = name.startsWith('e') ? didYouMean(name, INNER_WORDS) : '';
      const help = OTHER_STATEMENTS.get(name) ?? (inner || didYouMeanOneOf(name, STATEMENTS));
      this.#context.report('template/unknown-statement', word, { name, help });
    }
    return undefined;
  }

  #if(tag: Tag): StatementShape {
    const branches: IfBranch[] = [
      { condition: endOfTag(tag, tag.expressions.parse()), body: this.#inner(tag, IF_STOPS) },
    ];
    let otherwise: readonly Statement[] = [];
    for (let next = this.#innerTag(IF_STOPS); next !== undefined; next = this.#innerTag(IF_STOPS)) {
      if (next.word.text === 'endif') break;
      if (next.word.text === 'elif') {
        const condition = endOfTag(next, next.expressions.parse());
        branches.push({ condition, body: this.#inner(tag, IF_STOPS) });
      } else {
        otherwise = this.#inner(tag, ['endif']);
      }
    }
    return { kind: 'if', branches, otherwise };
  }

  #for(tag: Tag): StatementShape {
    const { reader, expressions } = tag;
    const target = this.#target(tag);
    reader.expectWord('in');
    const iterable = expressions.parseWithoutConditional();
    const filter = reader.skipWord('if') ? expressions.parse() : undefined;
    const recursive = reader.skipWord('recursive');
    reader.expectEnd();
    const body = this.#inner(tag, ['else', 'endfor']);
    let otherwise: readonly Statement[] = [];
    const next = this.#innerTag(['else', 'endfor']);
    if (next?.word.text === 'else') {
      otherwise = this.#inner(tag, ['endfor']);
      this.#innerTag(['endfor']);
    }
    return { kind: 'for', target, iterable, recursive, body, otherwise, ...(filter && { filter }) };
  }

  #set(tag: Tag): StatementShape {
    const target = this.#target(tag);
    if (tag.reader.skipOperator('=')) {
      return { kind: 'set', target, value: endOfTag(tag, this.#valueOfSet(tag)) };
    }
    if (tag.reader.current.type !== 'end' && !tag.reader.isOperator('|')) tag.reader.expectOperator('=');
    // After an error in the target or before the value, it is unclear whether a block follows, so the parser expects none.
    if (tag.reader.failed)
      return { kind: 'set', target, value: { kind: 'none', start: target.start, end: target.end } };
    const filters = this.#optionalFilters(tag);
    tag.reader.expectEnd();
    return { kind: 'set-block', target, filters, body: this.#closed(tag) };
  }

  /** `{% set a, b = 1, 2 %}` assigns from a list of the two. */
  #valueOfSet({ reader, expressions }: Tag): Expression {
    const first = expressions.parse();
    if (!reader.isOperator(',')) return first;
    const items = [first];
    while (reader.skipOperator(',')) items.push(expressions.parse());
    return { kind: 'list', items, start: first.start, end: items.at(-1)?.end ?? first.end };
  }

  #optionalFilters({ reader, expressions }: Tag): readonly FilterCall[] {
    return reader.skipOperator('|') ? expressions.parseFilters() : [];
  }

  #with(tag: Tag): StatementShape {
    const bindings: WithBinding[] = [];
    while (tag.reader.current.type !== 'end') {
      const target = this.#target(tag);
      tag.reader.expectOperator('=');
      bindings.push({ target, value: tag.expressions.parse() });
      if (!tag.reader.skipOperator(',')) break;
    }
    tag.reader.expectEnd();
    return { kind: 'with', bindings, body: this.#closed(tag) };
  }

  #filter(tag: Tag): StatementShape {
    const filters = tag.expressions.parseFilters();
    tag.reader.expectEnd();
    return { kind: 'filter-block', filters, body: this.#closed(tag) };
  }

  #macro(tag: Tag): StatementShape {
    const name = this.#assignable(tag, 'the name of the macro');
    const parameters = this.#parameters(tag);
    tag.reader.expectEnd();
    return { kind: 'macro', macro: { name: name.text, parameters, body: this.#closed(tag) } };
  }

  #call(tag: Tag): StatementShape {
    const parameters = tag.reader.isOperator('(') ? this.#parameters(tag) : [];
    const call = endOfTag(tag, tag.expressions.parse());
    const macro: Macro = { name: 'caller', parameters, body: this.#closed(tag) };
    return { kind: 'call-block', call, macro };
  }

  #parameters({ reader, expressions }: Tag): readonly MacroParameter[] {
    const parameters: MacroParameter[] = [];
    reader.expectOperator('(');
    while (!reader.isOperator(')') && reader.current.type !== 'end') {
      const name = reader.expectName('the name of a parameter').text;
      parameters.push(reader.skipOperator('=') ? { name, fallback: expressions.parse() } : { name });
      if (!reader.skipOperator(',')) break;
    }
    reader.expectOperator(')');
    return parameters;
  }

  /** `a`, `a, b`, `(a, b)` or `namespace.attribute`. */
  #target(tag: Tag): AssignmentTarget {
    const start = tag.reader.current.start;
    const first = this.#singleTarget(tag);
    if (!tag.reader.isOperator(',')) return first;
    const items = [first];
    while (tag.reader.skipOperator(',')) {
      if (tag.reader.isWord('in') || tag.reader.isOperator('=') || tag.reader.isOperator(')')) break;
      items.push(this.#singleTarget(tag));
    }
    return { kind: 'names', items, ...this.#context.located(start, tag.reader.previousEnd) };
  }

  #singleTarget(tag: Tag): AssignmentTarget {
    const { reader } = tag;
    if (reader.skipOperator('(')) {
      const inner = reader.nested(() => this.#target(tag));
      reader.expectOperator(')');
      return inner;
    }
    const { text: name, start } = this.#assignable(tag, 'a name');
    if (!reader.skipOperator('.')) return { kind: 'name', name, ...this.#context.located(start, reader.previousEnd) };
    const attribute = reader.expectName('the name of an attribute').text;
    return { kind: 'namespace', name, attribute, ...this.#context.located(start, reader.previousEnd) };
  }

  #assignable({ reader }: Tag, what: string): Token {
    const token = reader.expectName(what);
    if (RESERVED.has(token.text)) reader.fail('template/reserved-name', token, { name: token.text });
    return token;
  }

  /** Parses the body and the end tag of a block without inner tags. */
  #closed(tag: Tag): readonly Statement[] {
    const stops = [`end${tag.word.text}`];
    const body = this.#inner(tag, stops);
    this.#innerTag(stops);
    return body;
  }

  #inner(tag: Tag, stops: readonly string[]): readonly Statement[] {
    if (this.#open.length >= MAX_BLOCKS) return this.#abandon(tag);
    this.#open.push(tag.word.text);
    const body = this.#body(stops);
    this.#open.pop();
    const isReported = this.#wronglyEnded > this.#open.length;
    this.#wronglyEnded = Math.min(this.#wronglyEnded, this.#open.length);
    if (!this.#isAt(stops) && !this.#abandoned && !isReported) {
      this.#context.report('template/unclosed-block', tag.chunk, { name: tag.word.text });
    }
    return body;
  }

  #abandon(tag: Tag): readonly Statement[] {
    this.#context.report('template/too-deep', tag.chunk, {});
    this.#abandoned = true;
    this.#at = this.#chunks.length;
    return [];
  }

  #isAt(words: readonly string[]): boolean {
    const chunk = this.#chunks[this.#at];
    return chunk?.kind === 'block' && words.includes(firstWord(chunk));
  }

  /** Consumes the next tag if it continues or ends the open block. */
  #innerTag(words: readonly string[]): Tag | undefined {
    const chunk = this.#chunks[this.#at];
    if (chunk?.kind !== 'block' || !words.includes(firstWord(chunk))) return undefined;
    this.#at += 1;
    const reader = new TokenReader(this.#context, chunk.tokens);
    const word = reader.next();
    if (chunk.unreadable === true) reader.abandon();
    if (word.text !== 'elif') reader.expectEnd();
    return { word, reader, expressions: new ExpressionParser(reader), chunk };
  }

  #located(shape: StatementShape, chunk: Chunk): Statement {
    return { ...shape, ...this.#context.located(chunk.start, chunk.end) };
  }
}

const IF_STOPS = ['elif', 'else', 'endif'];

function endOfTag(tag: Tag, expression: Expression): Expression {
  tag.reader.expectEnd();
  return expression;
}

function firstWord(chunk: TagChunk): string {
  const token = chunk.tokens[0];
  return token?.type === 'name' ? token.text : '';
}

/** Statements of other template languages. */
const OTHER_STATEMENTS: ReadonlyMap<string, string> = new Map([
  ['elseif', 'Write "{% elif … %}".'],
  ['elsif', 'Write "{% elif … %}".'],
  ['end', 'Write "{% endif %}" or "{% endfor %}".'],
]);
