import {
  reservedName,
  templateTooDeep,
  unclosedBlock,
  unexpectedEnd,
  unknownStatement,
} from '../../../diagnostics/catalogue/template.ts';
import { didYouMeanOneOf } from '../../../base/suggestion.ts';
import type {
  AssignmentTarget,
  Expression,
  FilterCall,
  IfBranch,
  Macro,
  MacroParameter,
  Statement,
  StatementShape,
  WithBinding,
} from '../../../schema/template.ts';
import { ExpressionParser } from './expression-parser.ts';
import { TokenReader, type ParseContext } from './token-reader.ts';
import type { Chunk, TagChunk, Token } from './tokenize-expression.ts';

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
export class StatementParser {
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
    const span = this.#context.span(word.start, word.end);
    if (this.#abandoned) return undefined;
    if (INNER_WORDS.has(word.text)) {
      this.#context.report(unexpectedEnd(span, word.text, this.#open.at(-1)));
      if (word.text.startsWith('end')) this.#wronglyEnded = this.#open.length;
    } else {
      const help = OTHER_STATEMENTS.get(word.text) ?? didYouMeanOneOf(word.text, STATEMENTS);
      this.#context.report(unknownStatement(span, word.text, help));
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
    if (RESERVED.has(token.text)) reader.fail(reservedName(this.#context.span(token.start, token.end), token.text));
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
      this.#context.report(unclosedBlock(this.#context.span(tag.chunk.start, tag.chunk.end), tag.word.text));
    }
    return body;
  }

  #abandon(tag: Tag): readonly Statement[] {
    this.#context.report(templateTooDeep(this.#context.span(tag.chunk.start, tag.chunk.end)));
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
