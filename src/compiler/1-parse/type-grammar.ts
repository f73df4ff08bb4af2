import { tokenMatcher } from 'chevrotain';
import { isExactInteger } from './exact-integer.ts';
import { equivalentOfGeneric } from './other-languages.ts';
import type { AttributeNode, TypeNode, TypeNodeShape } from './syntax-nodes.ts';
import * as t from './tokens.ts';
import { unescapeString, ValueGrammar } from './value-grammar.ts';

/** A type, and the attributes that follow it: they belong to the field or parameter that has the type. */
export interface AttributedType {
  readonly type: TypeNode;
  readonly attributes: readonly AttributeNode[];
}

/** The most nested lists or maps, as for brackets. */
const MAX_NESTING = 64;

/** The most tokens of a generic type's arguments that the parser reads to suggest an equivalent. */
const LONGEST_ARGUMENTS = 20;

/** The grammar of types. */
export abstract class TypeGrammar extends ValueGrammar {
  /** The number of open maps, whose angle brackets are not balanced beforehand. */
  #mapDepth = 0;

  protected readonly type = this.RULE('type', (): AttributedType => {
    this.OPTION(() => {
      const pipe = this.take(t.Pipe);
      this.report('parse/leading-pipe', this.spanOf(pipe), {});
    });
    const first = this.peek();
    const members: TypeNode[] = [this.SUBRULE1(this.postfixType)];
    let attributes = this.SUBRULE1(this.attributes);
    this.MANY(() => {
      this.CONSUME2(t.Pipe);
      const last = members.pop();
      this.ACTION(() => last !== undefined && members.push(withAttributes(last, attributes)));
      members.push(this.SUBRULE2(this.postfixType));
      attributes = this.SUBRULE2(this.attributes);
    });
    return this.ACTION(() => ({ type: this.#union(members, first), attributes }));
  });

  protected readonly postfixType = this.RULE('postfixType', (): TypeNode => {
    const first = this.peek();
    let type = this.SUBRULE(this.baseType);
    let count = 0;
    this.MANY({
      GATE: () => !this.peek().onNewLine,
      DEF: () =>
        this.OR([
          {
            ALT: () => {
              this.CONSUME(t.LeftBracket);
              this.CONSUME(t.RightBracket);
              count += 1;
              if (count <= MAX_NESTING) type = this.ACTION(() => this.#list(type, first)) ?? type;
            },
          },
          {
            ALT: () => {
              const mark = this.take(t.Question);
              type = this.ACTION(() => this.#optional(type, first, mark)) ?? type;
            },
          },
        ]),
    });
    this.ACTION(() => {
      if (count > MAX_NESTING) this.report('parse/nesting-too-deep', this.spanFrom(first), { limit: MAX_NESTING });
    });
    return type;
  });

  protected readonly baseType = this.RULE('baseType', (): TypeNode =>
    this.OR<TypeNode>({
      ERR_MSG: 'a type',
      IGNORE_AMBIGUITIES: true,
      DEF: [
        { GATE: () => this.nextIs(t.Less, 2) && this.#mapDepth < MAX_NESTING, ALT: () => this.SUBRULE(this.mapType) },
        { GATE: () => !this.atDeclaration(), ALT: () => this.SUBRULE(this.namedType) },
        { ALT: () => this.#stringLiteral(this.take(t.QuotedString)) },
        { ALT: () => this.#numberLiteral(this.take(t.Number)) },
        { ALT: () => this.SUBRULE(this.group) },
        { ALT: () => this.SUBRULE(this.bracketedType) },
        { ALT: () => this.SUBRULE(this.brokenType) },
      ],
    }),
  );

  /** A type inside another one: the attributes after it belong to it. */
  protected readonly innerType = this.RULE('innerType', (): TypeNode => {
    const { type, attributes } = this.SUBRULE(this.type);
    return this.ACTION(() => withAttributes(type, attributes));
  });

  protected readonly mapType = this.RULE('mapType', (): TypeNode => {
    this.#mapDepth += 1;
    try {
      const word = this.take(t.MapWord);
      this.CONSUME(t.Less);
      const key = this.SUBRULE1(this.innerType);
      this.CONSUME(t.Comma);
      const value = this.SUBRULE2(this.innerType);
      this.CONSUME(t.Greater);
      return this.node({ kind: 'map', key, value }, word);
    } finally {
      this.#mapDepth -= 1;
    }
  });

  protected readonly namedType = this.RULE('namedType', (): TypeNode => {
    const name = this.take(t.Identifier);
    const shape: TypeNodeShape =
      name.image === 'true' || name.image === 'false'
        ? { kind: 'literal', value: name.image === 'true' }
        : { kind: 'name', name: name.image };
    const node = this.node(shape, name);
    const generic = this.ACTION(() => this.#parametersFollow()) === true;
    return generic ? this.#generic(name) : node;
  });

  protected readonly group = this.RULE('group', (): TypeNode => {
    const open = this.take(t.LeftParenthesis);
    const members: TypeNode[] = [this.SUBRULE1(this.innerType)];
    this.MANY(() => {
      this.CONSUME(t.Comma);
      members.push(this.SUBRULE2(this.innerType));
    });
    this.CONSUME(t.RightParenthesis);
    const only = members[0];
    return members.length === 1 && only !== undefined ? only : this.node({ kind: 'tuple', members }, open);
  });

  /** `[T]`, a list in other languages. */
  protected readonly bracketedType = this.RULE('bracketedType', (): TypeNode => {
    const open = this.take(t.LeftBracket);
    const element = this.SUBRULE(this.innerType);
    this.CONSUME(t.RightBracket);
    this.ACTION(() => this.report('parse/list-type', this.spanFrom(open), {}));
    return this.node({ kind: 'list', element }, open);
  });

  protected readonly brokenType = this.RULE('brokenType', (): TypeNode => {
    const token = this.OR([
      { ALT: () => this.take(t.LeftBrace) },
      { ALT: () => this.take(t.InvalidValue) },
      { ALT: () => this.take(t.UnterminatedString) },
      { ALT: () => this.take(t.Stray) },
      { ALT: () => this.take(t.TooDeep) },
    ]);
    return this.ACTION(() => {
      this.#reportBrokenType(token);
      return this.node({ kind: 'broken' }, token);
    });
  });

  protected node(shape: TypeNodeShape, first: t.DefinitionToken): TypeNode {
    return { ...shape, attributes: [], span: this.spanFrom(first) };
  }

  #union(members: readonly TypeNode[], first: t.DefinitionToken): TypeNode {
    const only = members[0];
    if (members.length === 1 && only !== undefined) return only;
    const last = members.at(-1);
    const span = { file: this.file, start: first.startOffset, end: last?.span.end ?? first.startOffset };
    return { kind: 'union', members, attributes: [], span };
  }

  #list(element: TypeNode, first: t.DefinitionToken): TypeNode {
    const afterMark = element.kind === 'optional' && this.peek(-2).tokenType === t.Question;
    if (afterMark) this.report('parse/optional-before-list', this.spanFrom(first), {});
    return this.node({ kind: 'list', element }, first);
  }

  #optional(type: TypeNode, first: t.DefinitionToken, mark: t.DefinitionToken): TypeNode {
    if (this.peek(-1).tokenType !== t.Question) return this.node({ kind: 'optional', type }, first);
    // Reports only the second of several.
    if (this.peek(-2).tokenType !== t.Question) this.report('parse/double-optional', this.spanOf(mark), {});
    return type;
  }

  #stringLiteral(token: t.DefinitionToken): TypeNode {
    return this.node({ kind: 'literal', value: unescapeString(token.image.slice(1, -1)) }, token);
  }

  #numberLiteral(token: t.DefinitionToken): TypeNode {
    const text = token.image;
    if (text.includes('.')) this.report('parse/float-literal', this.spanOf(token), { text });
    else if (!isExactInteger(text)) this.report('parse/inexact-integer', this.spanOf(token), { text });
    return this.node({ kind: 'literal', value: Number(text) }, token);
  }

  /** `<T>`, or `[T]` as in some languages. */
  #parametersFollow(): boolean {
    if (!this.nextOnSameLine()) return false;
    return this.nextIs(t.Less) || (this.nextIs(t.LeftBracket) && !this.nextIs(t.RightBracket, 2));
  }

  #generic(name: t.DefinitionToken): TypeNode {
    if (this.nextIs(t.LeftBracket) && this.nextIs(t.Number, 2)) return this.#sizedList(name);
    const isTooDeep = name.tokenType === t.MapWord && this.nextIs(t.Less);
    const equivalent = equivalentOfGeneric(name.image, this.#argumentTexts());
    if (this.nextIs(t.LeftBracket)) this.skipToken();
    else {
      while (this.nextOnSameLine() && !this.nextIs(t.Greater) && !this.nextIs(t.LeftBrace)) this.skipToken();
      if (this.nextIs(t.Greater)) this.skipToken();
    }
    if (isTooDeep) this.report('parse/nesting-too-deep', this.spanOf(name), { limit: MAX_NESTING });
    else this.report('parse/generic-type', this.spanFrom(name), { name: name.image, equivalent });
    return this.node({ kind: 'broken' }, name);
  }

  /** Returns the arguments between the next brackets; none if they are more than names and literals. */
  #argumentTexts(): readonly string[] {
    const texts: string[] = [];
    for (let ahead = 2; ahead < LONGEST_ARGUMENTS; ahead += 2) {
      const [argument, after] = [this.peek(ahead), this.peek(ahead + 1)];
      if (argument.tokenType !== t.QuotedString && !tokenMatcher(argument, t.Identifier)) return [];
      texts.push(argument.image);
      if (after.tokenType === t.Greater || after.tokenType === t.RightBracket) return texts;
      if (after.tokenType !== t.Comma) return [];
    }
    return [];
  }

  #sizedList(name: t.DefinitionToken): TypeNode {
    const size = this.peek(2);
    const advice = `A list has no fixed size: write \`${name.image}[]\`.`;
    this.report('parse/unexpected-token', this.spanOf(size), {
      expected: '"]"',
      found: t.quoteToken(size),
      advice,
    });
    this.skipToken();
    return this.node({ kind: 'broken' }, name);
  }

  #reportBrokenType(token: t.DefinitionToken): void {
    if (token.tokenType === t.LeftBrace) this.#reportInlineObject(token);
    else if (FOREIGN_QUOTE.test(token.image)) this.#reportForeignQuotes(token);
    else if (token.tokenType === t.Stray) {
      this.report('parse/invalid-character', this.spanOf(token), { text: token.image });
    } else this.reportBroken(token);
  }

  #reportInlineObject(open: t.DefinitionToken): void {
    this.report('parse/inline-object', this.spanOf(open), {});
    while (!this.nextIs(t.RightBrace) && !this.atEnd) this.skipToken();
    this.skipToken();
  }

  #reportForeignQuotes(open: t.DefinitionToken): void {
    while (this.nextOnSameLine() && !FOREIGN_QUOTE.test(this.peek().image)) this.skipToken();
    if (this.nextOnSameLine()) this.skipToken();
    this.report(open.image === "'" ? 'parse/single-quotes' : 'parse/curly-quotes', this.spanFrom(open), {});
  }
}

/** A quote that does not delimit strings here. */
const FOREIGN_QUOTE = /^['\u2018-\u201F]$/u;

function withAttributes(type: TypeNode, attributes: readonly AttributeNode[]): TypeNode {
  return attributes.length === 0 ? type : { ...type, attributes: [...type.attributes, ...attributes] };
}
