import * as t from './tokens.ts';
import type {
  AttributeNode,
  DeclarationNode,
  EntryNode,
  NameNode,
  TypeNode,
  ParameterNode,
  RawStringNode,
} from './syntax-nodes.ts';
import { BlockGrammar, type AttributedType } from './type-grammar.ts';
import { editDistance, didYouMean } from '../../base/suggestion.ts';
import { inTodaysForm, isOlderFunction, writtenEntries, declarationHint } from './other-languages.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Span } from '../../diagnostics/span.ts';

interface Returns {
  readonly returns?: TypeNode;
  readonly returnAttributes: readonly AttributeNode[];
}

/** The grammar of functions and template strings. */
abstract class FunctionGrammar extends BlockGrammar {
  protected readonly functionBlock = this.RULE('functionBlock', (): DeclarationNode | undefined => {
    const word = this.take(t.Function);
    const name = this.SUBRULE(this.name, { ARGS: ['function'] });
    const older = this.ACTION(() => this.#olderFunction(word, name));
    if (older !== undefined) return older;
    const parameters = this.OR1<readonly ParameterNode[]>([
      { ALT: () => this.SUBRULE(this.parameters) },
      { ALT: () => this.#missingParameters(name) },
    ]);
    const returns = this.SUBRULE(this.returnType, { ARGS: [parameters === NO_PARAMETERS ? undefined : name] });
    return this.OR2<DeclarationNode | undefined>([
      {
        GATE: () => this.#isModelFunction(),
        ALT: () => {
          const entries = this.SUBRULE(this.braced);
          return name && { kind: 'function', name, parameters, ...returns, entries, ...this.declared(word) };
        },
      },
      { ALT: () => this.#otherFunction(word, name) },
    ]);
  });

  protected readonly parameters = this.RULE('parameters', (): readonly ParameterNode[] => {
    const parameters: ParameterNode[] = [];
    this.CONSUME(t.LeftParenthesis);
    this.MANY(() => {
      const parameter = this.SUBRULE(this.parameter);
      parameters.push(parameter);
      this.OPTION(() => this.CONSUME(t.Comma));
      this.ACTION(() => this.#missingComma());
    });
    this.CONSUME(t.RightParenthesis);
    return parameters;
  });

  protected readonly parameter = this.RULE('parameter', (): ParameterNode => {
    const token = this.take(t.Identifier);
    const name = this.ACTION(() => this.checkedName(token)) ?? this.nameOf(token);
    let colon = false;
    this.OPTION1(() => {
      this.CONSUME(t.Colon);
      colon = true;
    });
    const parsed = this.OR([
      { GATE: () => colon || this.#typeFollows(), ALT: () => this.SUBRULE(this.type) },
      { ALT: () => undefined },
    ]);
    const swapped = this.ACTION(() => (colon ? undefined : this.#swapped(name, parsed?.type)));
    this.ACTION(() =>
      this.#checkParameter(name, { colon, typed: parsed !== undefined, swapped: swapped !== undefined }),
    );
    this.OPTION2(() => {
      const equals = this.take(t.Equals);
      this.ACTION(() => this.#defaultValue(name, equals));
    });
    if (swapped !== undefined) return swapped;
    return parsed === undefined ? { name, attributes: [] } : { name, ...parsed };
  });

  protected readonly returnType = this.RULE('returnType', (name: NameNode | undefined): Returns => {
    const arrowless = this.ACTION(() => this.#skipWrongArrow(name));
    return this.OR<Returns>({
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: () => this.nextIs(t.LeftBrace, 2) && this.#isModelFunction(2),
          ALT: () => {
            this.CONSUME2(t.Arrow);
            return this.#missingReturnType(name);
          },
        },
        {
          ALT: () => {
            this.CONSUME1(t.Arrow);
            return returnsOf(this.SUBRULE1(this.type));
          },
        },
        { GATE: () => arrowless === true, ALT: () => returnsOf(this.SUBRULE2(this.type)) },
        { ALT: () => this.#missingReturnType(name) },
      ],
    });
  });

  protected readonly templateString = this.RULE('templateString', (): DeclarationNode | undefined => {
    const word = this.OR1([{ ALT: () => this.take(t.TemplateString) }, { ALT: () => this.take(t.StringTemplate) }]);
    const name = this.SUBRULE(this.name, { ARGS: ['template_string'] });
    let parameters: readonly ParameterNode[] = [];
    this.OPTION1(() => {
      parameters = this.SUBRULE(this.parameters);
    });
    this.OPTION2(() => this.CONSUME(t.Equals));
    const body = this.OR2<RawStringNode | undefined>([
      { ALT: () => this.rawString(this.take(t.RawString)) },
      { ALT: () => this.#missingBody(name) },
    ]);
    return this.ACTION(
      () => name && body && { kind: 'template_string', name, parameters, body, ...this.declared(word) },
    );
  });

  /**
   * Returns whether the next block contains a client or a prompt. If not, it is the code of a workflow function, which is
   * another language, and the parser skips it.
   */
  #isModelFunction(brace = 1): boolean {
    if (!this.nextIs(t.LeftBrace, brace)) return false;
    const first = this.peek(brace + 1);
    if (first.tokenType === t.RightBrace) return true;
    if (first.tokenType === t.Code) return false;
    if (t.MODEL_KEYS.some((key) => editDistance(first.image, key) <= 1)) return true;
    for (let ahead = brace + 1, depth = 1; depth > 0; ahead += 1) {
      const token = this.peek(ahead);
      if (Number.isNaN(token.startOffset)) return true;
      if (token.tokenType === t.RawString || token.tokenType === t.UnterminatedRawString) return true;
      if (depth === 1 && token.onNewLine && t.MODEL_KEYS.includes(token.image)) return true;
      if (token.tokenType === t.LeftBrace) depth += 1;
      else if (token.tokenType === t.RightBrace) depth -= 1;
    }
    return false;
  }

  #otherFunction(word: t.DefinitionToken, name: NameNode | undefined): DeclarationNode | undefined {
    return this.ACTION(() => {
      if (!this.nextIs(t.LeftBrace)) {
        this.missingBlock('function', name);
        return undefined;
      }
      this.skipToken();
      if (name === undefined) return undefined;
      this.report('parse/workflow', name.span, { name: name.text });
      return { kind: 'workflow', name, ...this.declared(word) };
    });
  }

  /** Reports a function in the older syntax and skips its block. The name stays known, so that tests can refer to it. */
  #olderFunction(word: t.DefinitionToken, name: NameNode | undefined): DeclarationNode | undefined {
    if (name === undefined || !this.nextIs(t.LeftBrace)) return undefined;
    const entries = writtenEntries(this.tokensInside());
    if (!isOlderFunction(entries)) return undefined;
    this.skipToken();
    this.report('parse/older-function', name.span, { name: name.text, form: inTodaysForm(name.text, entries) });
    return { kind: 'workflow', name, ...this.declared(word) };
  }

  #missingParameters(name: NameNode | undefined): readonly ParameterNode[] {
    if (name !== undefined) this.report('parse/missing-parameters', name.span, { name: name.text });
    return NO_PARAMETERS;
  }

  /** Without a name it reports nothing, because the diagnostic for the missing part before it shows the whole form. */
  #missingReturnType(name: NameNode | undefined): Returns {
    if (name !== undefined) this.report('parse/missing-return-type', name.span, { name: name.text });
    this.ACTION(() => this.skipTo(t.LeftBrace));
    return { returnAttributes: [] };
  }

  /** Reports a missing arrow, or another language's substitute for it, and moves to the type that follows. */
  #skipWrongArrow(name: NameNode | undefined): boolean {
    const first = this.peek();
    if (name === undefined || !this.nextOnSameLine() || this.nextIs(t.Arrow) || this.nextIs(t.LeftBrace)) return false;
    let count = 0;
    while (this.peek(count + 1).onNewLine === false && WRONG_ARROW.test(this.peek(count + 1).image)) count += 1;
    if (!this.nextIs(t.Identifier, count + 1)) return false;
    const last = this.peek(Math.max(1, count));
    const span = { file: this.file, start: first.startOffset, end: last.startOffset + last.image.length };
    this.report('parse/missing-arrow', span, { name: name.text });
    for (let skipped = 0; skipped < count; skipped += 1) this.skipToken();
    return true;
  }

  #missingBody(name: NameNode | undefined): undefined {
    this.ACTION(() => {
      if (this.nextIs(t.UnterminatedRawString)) this.reportBroken(this.peek());
      else if (name !== undefined) this.report('parse/template-body', name.span, { name: name.text });
      this.skipDeclaration(this.peek(0).depth);
    });
    return undefined;
  }

  #typeFollows(): boolean {
    return this.nextOnSameLine() && !this.nextIs(t.Comma) && !this.nextIs(t.Equals) && !this.nextIs(t.RightParenthesis);
  }

  /** Reports `string text`, the order of other languages, and returns the intended parameter. */
  #swapped(name: NameNode, type: TypeNode | undefined): ParameterNode | undefined {
    if (type?.kind !== 'name' || !PRIMITIVE.test(name.text) || PRIMITIVE.test(type.name)) return undefined;
    const span = { ...name.span, end: type.span.end };
    this.report('parse/parameter-order', span, { name: type.name, type: name.text });
    const intended: TypeNode = { kind: 'name', name: name.text, attributes: [], span: name.span };
    return { name: { text: type.name, span: type.span }, type: intended, attributes: [] };
  }

  #checkParameter(
    name: NameNode,
    { colon, typed, swapped }: { readonly colon: boolean; readonly typed: boolean; readonly swapped: boolean },
  ): void {
    if (!typed) this.report('parse/missing-type', name.span, { name: name.text, what: 'parameter' });
    else if (!colon && !swapped) this.report('parse/missing-colon', name.span, { name: name.text });
  }

  #defaultValue(name: NameNode, equals: t.DefinitionToken): void {
    while (!this.nextIs(t.Comma) && !this.nextIs(t.RightParenthesis) && !this.atEnd) this.skipToken();
    this.report('parse/default-value', this.spanFrom(equals), { name: name.text });
  }

  #missingComma(): void {
    if (this.peek(0).tokenType === t.Comma || !this.nextIs(t.Identifier)) return;
    this.report('parse/missing-comma', this.spanOf(this.peek()), {});
  }
}

function returnsOf({ type, attributes }: AttributedType): Returns {
  return { returns: type, returnAttributes: attributes };
}

/** Substitutes for the arrow in other languages. */
const WRONG_ARROW = /^(?::|=|-|>|returns?)$/u;
/** The parameters of a function without a parameter list. */
const NO_PARAMETERS: readonly ParameterNode[] = [];
const PRIMITIVE = /^(?:string|int|float|bool|image|audio|pdf|video)$/u;

const WORDS = ['class', 'enum', 'type', 'function', 'client', 'retry_policy', 'generator', 'test', 'template_string'];

const DEFINITION_WORDS = new Set(WORDS);
const NOT_SERVED = new Set([t.Generator, t.Test]);
/** Tokens that follow the name of a definition. */
const HEAD_ENDS = new Set([t.LeftBrace, t.LeftParenthesis, t.Less, t.Equals]);

/** The grammar of a whole file. One instance parses any number of files in succession. */
export class DefinitionGrammar extends FunctionGrammar {
  readonly document = this.RULE('document', (): readonly DeclarationNode[] => {
    const declarations: DeclarationNode[] = [];
    this.MANY(() => {
      this.#collect(declarations, () => this.SUBRULE(this.declaration));
    });
    return declarations;
  });

  /** The content of a `type_builder`, without braces. */
  readonly types = this.RULE('types', (): readonly DeclarationNode[] => {
    const declarations: DeclarationNode[] = [];
    this.MANY(() => {
      const declaration = this.attempt(
        () => this.SUBRULE(this.builtType),
        (depth) => this.skipDeclaration(depth),
      );
      this.ACTION(() => declaration !== undefined && declarations.push(declaration));
    });
    return declarations;
  });

  readonly declaration = this.RULE('declaration', (): DeclarationNode | undefined =>
    this.OR<DeclarationNode | undefined>({
      IGNORE_AMBIGUITIES: true,
      DEF: [
        { ALT: () => this.SUBRULE(this.classBlock) },
        { ALT: () => this.SUBRULE(this.enumBlock) },
        { ALT: () => this.SUBRULE(this.alias) },
        { ALT: () => this.SUBRULE(this.functionBlock) },
        { ALT: () => this.SUBRULE(this.templateString) },
        { ALT: () => this.SUBRULE(this.client) },
        { ALT: () => this.SUBRULE(this.retryPolicy) },
        { ALT: () => this.SUBRULE(this.generator) },
        { ALT: () => this.SUBRULE(this.test) },
        { ALT: () => this.SUBRULE(this.workflowVariable) },
        { ALT: () => this.SUBRULE(this.strayDeclaration) },
      ],
    }),
  );

  readonly client = this.RULE('client', (): DeclarationNode | undefined => {
    const word = this.take(t.Client);
    this.OPTION(() => {
      this.CONSUME(t.Less);
      const type = this.take(t.Identifier);
      this.ACTION(() => {
        if (type.image !== 'llm') this.report('parse/client-type', this.spanOf(type), { name: type.image });
      });
      this.CONSUME(t.Greater);
    });
    return this.#entriesOf('client', word);
  });

  readonly retryPolicy = this.RULE('retryPolicy', (): DeclarationNode | undefined =>
    this.#entriesOf('retry_policy', this.take(t.RetryPolicy)),
  );

  readonly generator = this.RULE('generator', (): DeclarationNode | undefined => {
    const word = this.take(t.Generator);
    const name = this.SUBRULE(this.looseHead, { ARGS: ['generator', word] });
    const entries = this.SUBRULE(this.block, { ARGS: ['generator', name] });
    return { kind: 'generator', name, entries, ...this.declared(word) };
  });

  /** The block of a client, retry policy or generator. */
  protected readonly block = this.RULE('block', (what: string, name: NameNode | undefined): readonly EntryNode[] =>
    this.OR<readonly EntryNode[]>([
      { ALT: () => this.SUBRULE(this.braced) },
      { ALT: () => this.missingBlock(what, name) },
    ]),
  );

  protected readonly test = this.RULE('test', (): DeclarationNode | undefined => {
    const word = this.take(t.Test);
    const name = this.SUBRULE(this.looseHead, { ARGS: ['test', word] });
    const members = this.OR([
      { ALT: () => this.SUBRULE(this.testBody) },
      {
        ALT: () => {
          this.missingBlock('test', name);
          return noMembers();
        },
      },
    ]);
    return { kind: 'test', name, ...members, ...this.declared(word) };
  });

  /**
   * Reads the name of a block that svc does not run, or takes its keyword if the name is missing. Skips other text before
   * the brace, such as `()` in `test Name() {`.
   */
  protected readonly looseHead = this.RULE('looseHead', (what: string, word: t.DefinitionToken): NameNode => {
    this.ACTION(() => this.#skipBeforeName());
    const name = this.SUBRULE(this.name, { ARGS: [what] }) ?? this.nameOf(word);
    this.ACTION(() => this.#skipBeforeBrace(what, name));
    return name;
  });

  protected readonly testBody = this.RULE('testBody', () => {
    const members = noMembers();
    this.CONSUME(t.LeftBrace);
    this.MANY(() =>
      this.OR({
        IGNORE_AMBIGUITIES: true,
        DEF: [
          {
            GATE: () => this.nextIs(t.LeftBrace, 2),
            ALT: () => this.SUBRULE(this.typeBuilder, { ARGS: [members.types] }),
          },
          { ALT: () => this.collect(members.attributes, () => this.SUBRULE(this.attribute)) },
          { ALT: () => this.collect(members.entries, () => this.SUBRULE(this.entry)) },
          { ALT: () => void this.CONSUME(t.Comma) },
          { ALT: () => this.SUBRULE(this.stray, { ARGS: ['a key'] }) },
        ],
      }),
    );
    this.CONSUME(t.RightBrace);
    return members;
  });

  protected readonly typeBuilder = this.RULE('typeBuilder', (declarations: DeclarationNode[]): void => {
    this.CONSUME(t.TypeBuilderKeyword);
    this.CONSUME(t.LeftBrace);
    this.MANY(() => {
      this.#collect(declarations, () => this.SUBRULE(this.builtType));
    });
    this.CONSUME(t.RightBrace);
  });

  protected readonly builtType = this.RULE('builtType', (): DeclarationNode | undefined =>
    this.OR<DeclarationNode | undefined>({
      IGNORE_AMBIGUITIES: true,
      DEF: [
        { ALT: () => this.SUBRULE(this.classBlock) },
        { ALT: () => this.SUBRULE(this.enumBlock) },
        { ALT: () => this.SUBRULE(this.alias) },
        { GATE: () => this.nextIs(t.Class, 2) || this.nextIs(t.Enum, 2), ALT: () => void this.CONSUME(t.Dynamic) },
        { ALT: () => this.#notBuildable(this.take(t.Anything)) },
      ],
    }),
  );

  protected readonly workflowVariable = this.RULE('workflowVariable', (): DeclarationNode | undefined => {
    const word = this.take(t.Let);
    const name = this.SUBRULE(this.name, { ARGS: ['let'] });
    this.ACTION(() => this.skipDeclaration(word.depth));
    if (name === undefined) return undefined;
    this.report('parse/workflow', name.span, { name: name.text });
    return { kind: 'workflow', name, ...this.declared(word) };
  });

  protected readonly strayDeclaration = this.RULE('strayDeclaration', (): undefined => {
    const token = this.take(t.Anything);
    this.ACTION(() => this.#strayDeclaration(token));
    return undefined;
  });

  constructor(validate = false) {
    super(validate);
    this.performSelfAnalysis();
  }

  /**
   * Reads a whole file, or the content of a `type_builder`. `brackets`: the problems of its brackets. Never throws because of the
   * content: its problems are in `diagnostics` and `errors`.
   */
  read(
    what: 'document' | 'types',
    file: string,
    tokens: t.DefinitionToken[],
    brackets: readonly Diagnostic[],
  ): readonly DeclarationNode[] {
    this.begin(file, tokens, brackets);
    return this[what]() ?? [];
  }

  /** Reads the name and the block after the first word of a client or retry policy. Part of the calling rule. */
  #entriesOf(kind: 'client' | 'retry_policy', word: t.DefinitionToken): DeclarationNode | undefined {
    const name = this.SUBRULE(this.name, { ARGS: [kind] });
    const entries = this.SUBRULE(this.block, { ARGS: [kind, name] });
    return name && { kind, name, entries, ...this.declared(word) };
  }

  /** Adds the definition that a rule reads. If the rule fails, skips to the next definition. */
  #collect(declarations: DeclarationNode[], rule: () => DeclarationNode | undefined): void {
    const first = this.peek();
    const begins = !this.notServed && NOT_SERVED.has(first.tokenType);
    if (begins) this.notServed = true;
    const declaration = this.attempt(rule, (depth) => this.skipDeclaration(depth));
    this.ACTION(() => {
      if (declaration !== undefined) declarations.push(declaration);
      // Without a closing brace of its own, the block could contain definitions that belong after it.
      if (begins && this.peek(0).image === '}') this.blocksNotServed.push(this.spanFrom(first));
    });
    if (begins) this.notServed = false;
  }

  /** Skips the type parameter of old tests: `test<llm> Name`. */
  #skipBeforeName(): void {
    if (!this.nextIs(t.Less)) return;
    this.reportUnexpected(this.peek(), 'a name');
    while (this.nextOnSameLine() && !this.nextIs(t.Greater) && !this.nextIs(t.LeftBrace)) this.skipToken();
    if (this.nextIs(t.Greater)) this.skipToken();
  }

  #skipBeforeBrace(what: string, name: NameNode): void {
    if (!this.nextOnSameLine() || this.nextIs(t.LeftBrace)) return;
    if (this.nextIs(t.LeftParenthesis)) this.report('parse/ignored-parameters', name.span, { name: name.text, what });
    else this.reportUnexpected(this.peek(), '"{"');
    while (this.nextOnSameLine() && !this.nextIs(t.LeftBrace)) this.skipToken();
  }

  #notBuildable(token: t.DefinitionToken): undefined {
    this.report('parse/not-in-type-builder', this.spanOf(token), { name: token.image });
    this.ACTION(() => this.skipDeclaration(token.depth));
    return undefined;
  }

  #strayDeclaration(token: t.DefinitionToken): void {
    const span = this.spanOf(token);
    if (token.tokenType === t.Semicolon) return this.report('parse/semicolon', span, {});
    if (this.reportComment(token)) return;
    if (token.tokenType === t.Dynamic) this.#strayDynamic(span);
    else if (token.image === 'impl' && this.nextIs(t.Less)) {
      // `impl<llm, Name> variant { … }`
      this.report('parse/older-implementation', span, { name: this.peek(4).image });
    } else if (isWord(token)) {
      const suggestion = declarationHint(token.image) || didYouMean(token.image, WORDS);
      this.report('parse/unknown-declaration', span, { name: token.image, suggestion });
      // `export class A {`: the definition itself is fine.
      if (this.nextOnSameLine() && DEFINITION_WORDS.has(this.peek().image)) return;
    } else if (token.tokenType === t.Stray) this.report('parse/invalid-character', span, { text: token.image });
    else this.reportUnexpected(token, 'a definition');
    this.skipUntil(token.depth, () => this.atDeclaration() || this.#atMistakenHead());
  }

  /** Recognizes a misspelt head of a definition, or one of another language, at the start of a line: `struct B {`. */
  #atMistakenHead(): boolean {
    const next = this.peek();
    if (!next.onNewLine || !this.nextIs(t.Identifier) || !this.nextIs(t.Identifier, 2)) return false;
    if (!HEAD_ENDS.has(this.peek(3).tokenType) && !DEFINITION_WORDS.has(this.peek(2).image)) return false;
    return declarationHint(next.image) !== '' || didYouMean(next.image, WORDS) !== '';
  }

  #strayDynamic(span: Span): void {
    const name = this.peek(2).image;
    this.report('parse/dynamic-outside-test', span, { name });
    // The block extends another definition: read here, it would be a duplicate.
    this.skipToken();
  }
}

/** The members of a test before any is read. */
function noMembers(): { entries: EntryNode[]; attributes: AttributeNode[]; types: DeclarationNode[] } {
  return { entries: [], attributes: [], types: [] };
}

function isWord(token: t.DefinitionToken): boolean {
  return token.tokenType === t.Identifier || t.KEYWORD_TYPES.has(token.image);
}
