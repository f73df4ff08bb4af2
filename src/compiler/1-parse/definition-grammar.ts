import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Span } from '../../diagnostics/span.ts';
import { didYouMean } from '../../base/suggestion.ts';
import type { AttributeNode, DeclarationNode, EntryNode, NameNode } from './syntax-nodes.ts';
import { declarationHint } from './other-languages.ts';
import * as t from './tokens.ts';
import { FunctionGrammar } from './function-grammar.ts';

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
      this.CONSUME(t.Identifier);
      this.CONSUME(t.Greater);
    });
    const name = this.SUBRULE(this.name, { ARGS: ['client'] });
    const entries = this.SUBRULE(this.block, { ARGS: ['client', name] });
    return name && { kind: 'client', name, entries, ...this.declared(word) };
  });

  readonly retryPolicy = this.RULE('retryPolicy', (): DeclarationNode | undefined => {
    const word = this.take(t.RetryPolicy);
    const name = this.SUBRULE(this.name, { ARGS: ['retry_policy'] });
    const entries = this.SUBRULE(this.block, { ARGS: ['retry_policy', name] });
    return name && { kind: 'retry_policy', name, entries, ...this.declared(word) };
  });

  readonly generator = this.RULE('generator', (): DeclarationNode | undefined => {
    const word = this.take(t.Generator);
    const name = this.SUBRULE(this.looseHead, { ARGS: ['generator', word] });
    const entries = this.SUBRULE(this.block, { ARGS: ['generator', name] });
    return { kind: 'generator', name, entries, ...this.declared(word) };
  });

  /** The block of a client, retry policy or generator. */
  protected readonly block = this.RULE('block', (what: string, name: NameNode | undefined): readonly EntryNode[] =>
    this.OR<readonly EntryNode[]>([
      {
        ALT: () => {
          this.CONSUME(t.LeftBrace);
          const entries = this.SUBRULE(this.entries);
          this.CONSUME(t.RightBrace);
          return entries;
        },
      },
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

  /** Reads a whole file. Never throws because of its content: its problems are in `diagnostics` and `errors`. */
  parseDocument(
    file: string,
    tokens: t.DefinitionToken[],
    brackets: readonly Diagnostic[] = [],
  ): readonly DeclarationNode[] {
    this.begin(file, tokens, brackets);
    return this.document() ?? [];
  }

  /** Reads the content of a `type_builder`. Like `parseDocument`, it never throws. */
  parseTypes(file: string, tokens: t.DefinitionToken[], brackets: readonly Diagnostic[]): readonly DeclarationNode[] {
    this.begin(file, tokens, brackets);
    return this.types() ?? [];
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
    this.#reportHead('a name');
    while (this.nextOnSameLine() && !this.nextIs(t.Greater) && !this.nextIs(t.LeftBrace)) this.skipToken();
    if (this.nextIs(t.Greater)) this.skipToken();
  }

  #skipBeforeBrace(what: string, name: NameNode): void {
    if (!this.nextOnSameLine() || this.nextIs(t.LeftBrace)) return;
    if (this.nextIs(t.LeftParenthesis)) this.report('parse/ignored-parameters', name.span, { name: name.text, what });
    else this.#reportHead('"{"');
    while (this.nextOnSameLine() && !this.nextIs(t.LeftBrace)) this.skipToken();
  }

  #reportHead(expected: string): void {
    const next = this.peek();
    this.report('parse/unexpected-token', this.spanOf(next), { expected, found: t.quoteToken(next) });
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
    else this.report('parse/unexpected-token', span, { expected: 'a definition', found: t.quoteToken(token) });
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
