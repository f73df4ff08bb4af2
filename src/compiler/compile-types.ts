import { isJsonObject } from '../base/json.ts';
import { err, ok, type Result } from '../base/result.ts';
import { codeFrame, PLAIN } from '../diagnostics/report-formats.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { SourceFile } from '../diagnostics/source-file.ts';
import type { Span } from '../diagnostics/span.ts';
import type { Definitions, Program } from '../schema/program.ts';
import {
  type TypeExtension,
  definitionsOfArguments,
  type TypeOutcome,
  type TypeRequest,
} from '../schema/type-extension.ts';
import { ViolationList, type Violation } from '../schema/violation.ts';
import { parse, parseTypes } from './1-parse/parse.ts';
import type { AttributeNode, DeclarationNode, DocumentNode, FieldNode, TypeNode } from './1-parse/syntax-nodes.ts';
import { check } from './2-check/check.ts';
import {
  extendTypes,
  innerTypes,
  referencedNames,
  typeSites,
  attributeSites,
  DefinitionScope,
  KIND_WORDS,
} from './2-check/scope.ts';
import { isConstraint, eachDuplicate, hasAttribute } from './2-check/node-values.ts';
import type { CompileOptions } from './compile-options.ts';
import { writeSnippet, type Snippet } from './json-schema/snippet.ts';
import { didYouMean } from '../base/suggestion.ts';
import { dependenciesFirst } from '../base/strongly-connected.ts';
import { ValidatorCompiler } from './3-emit/validator-compiler.ts';

/** A snippet of this length takes up to 0.2 s on the thread, without argument validators. */
const MAX_CHARACTERS = 32 * 1024;

/** More than any prompt can explain to a model. */
const MAX_DEFINITIONS = 100;

/** Fields and enum values together. A worker merges and prepares this many in 20 to 35 ms; the limit for its event loop is 50. */
const MAX_MEMBERS = 500;

/**
 * The parts that a type gains after its full expansion, with the fields of every class in it: thirty classes that each contain
 * the next one twice have 2^30. Prompts and sample values expand types in this way.
 */
const MAX_PARTS = 1500;

/** The parts of all definitions together, after the expansion of aliases. */
const MAX_PARTS_IN_ALL = 2000;

/** The name of the snippet in spans. No definition file has it. */
const SNIPPET = '\0type_builder';

/** The documents contain nothing that depends on these: the server has compiled the rest. */
const OPTIONS: CompileOptions = { version: '', versionCheck: false, beta: true, apiKey: false, ofRequest: true };

/** Compiles the `type_builder` of requests against the definitions of one program, like the `type_builder` of a test. */
export class TypeCompiler {
  readonly #files: readonly SourceFile[];
  #base: BaseTypes | undefined;

  /** `files`: the definition files, without errors. */
  constructor(files: readonly SourceFile[]) {
    this.#files = files;
  }

  /**
   * Compiles a snippet, or the JSON Schemas in `{"json_schema": {…}}`, for calls of a function. The paths of violations begin at the
   * value of `type_builder`.
   * Limits characters, definitions, members and parts of types. Never throws because of the content.
   */
  compile(builder: unknown, functionName: string): Result<TypeExtension, readonly Violation[]> {
    const base = (this.#base ??= new BaseTypes(this.#files));
    const snippet = readSnippet(builder, base);
    return snippet.ok ? new SnippetCompiler(snippet.value, base, functionName).compile() : snippet;
  }
}

function readSnippet(builder: unknown, base: BaseTypes): Result<Snippet, readonly Violation[]> {
  if (typeof builder === 'string') return ok({ text: builder });
  const faults = new ViolationList();
  if (!isJsonObject(builder) || !Object.hasOwn(builder, 'json_schema')) {
    return err([{ path: '', message: 'has to be a string with definitions, or an object with "json_schema"' }]);
  }
  for (const key of Object.keys(builder)) {
    if (key !== 'json_schema') faults.add({ path: key, message: 'is unknown; allowed: json_schema' });
  }
  const snippet = writeSnippet(builder['json_schema'], (name) => base.declared.get(name)?.kind, faults);
  return faults.all.length > 0 ? err(faults.all) : ok(snippet);
}

/** The definitions of a program that a snippet can name or extend. */
class BaseTypes {
  /** Everything with a name, by name. */
  readonly declared: ReadonlyMap<string, DeclarationNode>;
  /** The classes, enums and aliases, and the signatures of functions. */
  readonly documents: readonly DocumentNode[];
  readonly scope: DefinitionScope;
  #writtenSizes: WrittenSizes | undefined;

  constructor(files: readonly SourceFile[]) {
    const documents = files.map((file) => parse(file).document);
    this.scope = new DefinitionScope(documents);
    const named = this.scope.declarations.filter(
      ({ kind }) => kind !== 'test' && kind !== 'generator' && kind !== 'retry_policy',
    );
    this.declared = new Map(named.toReversed().map((node) => [node.name.text, node]));
    this.documents = documents.map((document) => ({
      ...document,
      declarations: document.declarations.filter(isType).map(asType),
    }));
  }

  /** The sizes of types that prompts write out. */
  get writtenSizes(): WrittenSizes {
    return (this.#writtenSizes ??= new WrittenSizes(this.documents, { classes: true }));
  }
}

function isType({ kind }: DeclarationNode): boolean {
  return kind === 'class' || kind === 'enum' || kind === 'alias' || kind === 'function';
}

/**
 * A definition without the parts that do not concern types. No request receives the values of variables in `@alias(env.X)`, which the
 * program has.
 */
function asType(node: DeclarationNode): DeclarationNode {
  if (node.kind === 'function') return { ...node, entries: [] };
  if (node.kind === 'class') return { ...withoutVariables(node), fields: node.fields.map(withoutVariables) };
  return node.kind === 'enum' ? { ...withoutVariables(node), values: node.values.map(withoutVariables) } : node;
}

function withoutVariables<T extends { readonly attributes: readonly AttributeNode[] }>(of: T): T {
  const attributes = of.attributes.filter((attribute) => attribute.arguments.every(({ kind }) => kind !== 'env'));
  return { ...of, attributes };
}

/** Compiles one snippet. */
class SnippetCompiler {
  readonly #snippet: Snippet;
  readonly #file: SourceFile;
  readonly #base: BaseTypes;
  readonly #faults = new ViolationList();
  readonly #functionName: string;
  #types: readonly DeclarationNode[] = [];

  constructor(snippet: Snippet, base: BaseTypes, functionName: string) {
    this.#snippet = snippet;
    this.#file = new SourceFile(SNIPPET, snippet.text);
    this.#base = base;
    this.#functionName = functionName;
  }

  compile(): Result<TypeExtension, readonly Violation[]> {
    const { length } = this.#file.text;
    if (length > MAX_CHARACTERS) return this.#refused(`has more than ${MAX_CHARACTERS} characters`);
    const { document, diagnostics } = parseTypes(this.#file);
    const types = document.declarations.map((node) => this.#withProperties(node));
    this.#types = types;
    if (types.length > MAX_DEFINITIONS) return this.#refused(`has more than ${MAX_DEFINITIONS} definitions`);
    const members = types.reduce((total, node) => total + memberCount(node), 0);
    if (members > MAX_MEMBERS) return this.#refused(`has more than ${MAX_MEMBERS} fields and enum values`);
    this.#report(diagnostics);
    for (const { span, message } of requestTypeFaults(types, this.#base.declared)) this.#fault(message, span);
    if (this.#faults.all.length > 0) return err(this.#faults.all);
    return this.#check(types);
  }

  /** Fields of JSON Schemas have the names of their properties, which can be any strings. */
  #withProperties(node: DeclarationNode): DeclarationNode {
    const { lines } = this.#snippet;
    if (lines === undefined || node.kind !== 'class') return node;
    const fields = node.fields.map((field): FieldNode => {
      const property = lines[this.#file.positionAt(field.name.span.start).line - 1]?.property;
      return property === undefined ? field : { ...field, name: { ...field.name, text: property }, ofSchema: true };
    });
    return { ...node, fields };
  }

  #check(types: readonly DeclarationNode[]): Result<TypeExtension, readonly Violation[]> {
    const empty: DocumentNode = { file: this.#file, declarations: [], blocksNotServed: [] };
    const all = extendTypes([...this.#base.documents, empty], types, SNIPPET);
    const names = types.map(({ name }) => name.text);
    const documents = reachableDeclarations(all, [...names, this.#functionName]);
    this.#checkSizes(types, documents);
    if (this.#faults.all.length > 0) return err(this.#faults.all);
    const { keywords } = this.#snippet;
    const { definitions, diagnostics } = check(documents, { ...OPTIONS, ...(keywords !== undefined && { keywords }) });
    this.#report(diagnostics);
    if (this.#faults.all.length > 0) return err(this.#faults.all);
    return definitions === undefined
      ? this.#refused('cannot be compiled')
      : ok(this.#additions(definitions, new Set(names)));
  }

  /** Comes first: the time of all other checks depends on these sizes. */
  #checkSizes(types: readonly DeclarationNode[], documents: readonly DocumentNode[]): void {
    const compiled = new WrittenSizes(documents, { classes: false });
    const total = types.reduce((sum, node) => sum + compiled.of(node), 0);
    if (total > MAX_PARTS_IN_ALL) {
      const message = `The types have more than ${MAX_PARTS_IN_ALL} parts after the expansion of type aliases.`;
      this.#fault(message, types[0]?.name.span);
      return;
    }
    const written = new WrittenSizes(documents, { classes: true });
    const nodes = new Map(documents.flatMap(({ declarations }) => declarations.map((node) => [node.name.text, node])));
    const grows = (name: string): boolean => {
      const declared = this.#base.declared.get(name);
      const before = declared === undefined ? 0 : this.#base.writtenSizes.of(declared);
      return written.of(nodes.get(name)) > before + MAX_PARTS;
    };
    const end = `gains more than ${MAX_PARTS} parts after the expansion of all types in it.`;
    if (grows(this.#functionName)) {
      this.#fault(`The return type of "${this.#functionName}" ${end}`, types[0]?.name.span);
    }
    for (const { name } of types) if (grows(name.text)) this.#fault(`The type "${name.text}" ${end}`, name.span);
  }

  /** The program already has the definitions that the snippet extends, or refers to. */
  #additions({ classes, enums, aliases }: Definitions, names: ReadonlySet<string>): TypeExtension {
    const isAdded = ({ name }: { readonly name: string }): boolean => names.has(name);
    const { scope } = this.#base;
    return {
      classes: classes.filter(isAdded).map((type) => {
        const node = scope.classes.get(type.name);
        if (node === undefined) return type;
        const constraints = type.constraints.slice(constraintCount(node.attributes));
        return { ...type, fields: type.fields.slice(node.fields.length), constraints };
      }),
      enums: enums.filter(isAdded).map((type) => {
        const node = scope.enums.get(type.name);
        if (node === undefined) return type;
        const constraints = (type.constraints ?? []).slice(constraintCount(node.attributes));
        return { ...type, values: type.values.slice(node.values.length), constraints };
      }),
      aliases: aliases.filter(isAdded),
    };
  }

  #report(diagnostics: readonly Diagnostic[]): void {
    for (const { severity, message, help, span, related = [] } of diagnostics) {
      if (severity !== 'error' || this.#faults.full) continue;
      // Errors elsewhere concern the parts that these documents lack.
      const places = [span, ...related.map((each) => each.span)].map((each) => this.#placeOf(each));
      const place = places.find((each) => each !== undefined);
      if (place !== undefined) this.#fault(help === undefined ? message : `${message} ${help}`, place);
    }
  }

  /** The position in the snippet of a span in it, or in a definition that it extends. */
  #placeOf(span: Span): Span | undefined {
    if (span.file === SNIPPET) return span;
    const extended = this.#types.find(({ name }) => {
      const declared = this.#base.declared.get(name.text)?.span;
      return (
        declared !== undefined &&
        declared.file === span.file &&
        declared.start <= span.start &&
        span.end <= declared.end
      );
    });
    return extended?.name.span;
  }

  #fault(message: string, span: Span | undefined): void {
    // Finding and showing its position costs more than the check that found it.
    if (this.#faults.full || span === undefined) return;
    const { line, column } = this.#file.positionAt(span.start);
    const { lines } = this.#snippet;
    if (lines === undefined) {
      this.#faults.add({ path: '', message, line, column, frame: codeFrame(this.#file, span, PLAIN) });
    } else this.#faults.add({ path: lines[line - 1]?.path ?? '', message });
  }

  #refused(message: string): Result<never, readonly Violation[]> {
    return err([{ path: '', message }]);
  }
}

function memberCount(node: DeclarationNode): number {
  if (node.kind === 'class') return node.fields.length;
  return node.kind === 'enum' ? node.values.length : 0;
}

function constraintCount(attributes: readonly AttributeNode[]): number {
  return attributes.filter(isConstraint).length;
}

interface RequestTypeFault {
  readonly span: Span;
  readonly message: string;
}

/**
 * The additional rules for the types of a request: they extend only `@@dynamic` definitions, use new names for
 * everything else, and read no environment variable of the server, because a prompt would reveal it to the client of the request.
 */
function requestTypeFaults(
  types: readonly DeclarationNode[],
  declared: ReadonlyMap<string, DeclarationNode>,
): readonly RequestTypeFault[] {
  const faults: RequestTypeFault[] = [];
  eachDuplicate(
    types,
    ({ name }) => name.text,
    ({ name }) => faults.push({ span: name.span, message: `The name "${name.text}" has two definitions. Merge them.` }),
  );
  for (const node of types) {
    const message = isExtension(node) ? extensionFault(node, declared) : clash(node, declared);
    if (message !== undefined) faults.push({ span: node.name.span, message });
    for (const { attributes } of attributeSites(node)) {
      for (const value of attributes.flatMap((attribute) => attribute.arguments)) {
        if (value.kind !== 'env') continue;
        const reason = `A request cannot read "env.${value.variable}" of the server. Write the text itself.`;
        faults.push({ span: value.span, message: reason });
      }
    }
  }
  return faults;
}

type Extensible = Extract<DeclarationNode, { readonly kind: 'class' | 'enum' }>;

function isExtension(node: DeclarationNode): node is Extensible {
  return (node.kind === 'class' || node.kind === 'enum') && node.extension === true;
}

function extensionFault(
  { kind, name }: Extensible,
  declared: ReadonlyMap<string, DeclarationNode>,
): string | undefined {
  const target = declared.get(name.text);
  if (target?.kind !== kind) {
    const names = [...declared.values()].flatMap((node) => (node.kind === kind ? [node.name.text] : []));
    const advice = didYouMean(name.text, names) || 'To define it, remove "dynamic".';
    return `The definitions have no ${kind} "${name.text}" to extend. ${advice}`;
  }
  if (hasAttribute(target.attributes, 'dynamic')) return undefined;
  return `The ${kind} "${name.text}" cannot be extended: its definition has no \`@@dynamic\`.`;
}

function clash({ kind, name }: DeclarationNode, declared: ReadonlyMap<string, DeclarationNode>): string | undefined {
  const other = declared.get(name.text);
  if (other === undefined) return undefined;
  const isDynamic = (other.kind === 'class' || other.kind === 'enum') && hasAttribute(other.attributes, 'dynamic');
  const advice = isDynamic && other.kind === kind ? `To extend it, write "dynamic ${kind}".` : 'Choose another name.';
  return `The definitions already have a ${KIND_WORDS[other.kind].replace(/^an? /u, '')} "${name.text}". ${advice}`;
}

/** Returns the documents with only the definitions that these names reach: a large project has thousands of others. */
function reachableDeclarations(documents: readonly DocumentNode[], names: readonly string[]): readonly DocumentNode[] {
  const nodes = new Map(documents.flatMap(({ declarations }) => declarations.map((node) => [node.name.text, node])));
  const reached = new Set(names);
  for (const name of reached) for (const next of namesIn(nodes.get(name))) reached.add(next);
  return documents.map((document) => ({
    ...document,
    declarations: document.declarations.filter(({ name }) => reached.has(name.text)),
  }));
}

function namesIn(node: DeclarationNode | undefined): readonly string[] {
  return typeSites(node).flatMap(({ type }) => referencedNames(type, true));
}

/** The characters of an attribute that count as one part. */
const CHARACTERS_PER_PART = 20;

/**
 * The sizes of expanded types: aliases, and classes too if `classes` is true, count with all of their parts wherever they
 * occur. Prompts expand types, and programs contain the targets of aliases. A type inside itself counts as one part.
 */
class WrittenSizes {
  readonly #nodes: ReadonlyMap<string, DeclarationNode>;
  readonly #sizes = new Map<string, number>();

  constructor(documents: readonly DocumentNode[], { classes }: { readonly classes: boolean }) {
    const all = documents.flatMap(({ declarations }) => declarations);
    const written = all.filter(({ kind }) => kind === 'alias' || (classes && kind === 'class'));
    this.#nodes = new Map(written.map((node) => [node.name.text, node]));
    // Not recursive: a chain of classes can be longer than the stack is deep.
    const order = dependenciesFirst([...this.#nodes.keys()], (name) =>
      namesIn(this.#nodes.get(name)).filter((next) => this.#nodes.has(next)),
    );
    for (const name of order) this.#sizes.set(name, this.of(this.#nodes.get(name)));
  }

  /** The size of a definition without its name: the sizes of its fields, of its target, or of the return type. */
  of(node: DeclarationNode | undefined): number {
    if (node?.kind === 'function') return node.returns === undefined ? 1 : this.#sizeOf(node.returns);
    if (node?.kind === 'alias') return this.#sizeOf(node.type) + attributeSize(node.attributes);
    if (node?.kind !== 'class') return 1;
    return node.fields.reduce((total, { type }) => total + (type === undefined ? 1 : this.#sizeOf(type)), 1);
  }

  #sizeOf(type: TypeNode): number {
    const own = type.kind === 'name' ? (this.#sizes.get(type.name) ?? 1) : 1;
    const inner = innerTypes(type).reduce((total, part) => total + this.#sizeOf(part), 0);
    return own + inner + attributeSize(type.attributes);
  }
}

function attributeSize(attributes: readonly AttributeNode[]): number {
  return attributes.reduce((total, { span }) => total + Math.ceil((span.end - span.start) / CHARACTERS_PER_PART), 0);
}

/** Compiles the types of requests in this process. `files`: those of the program. */
export function createTypeSource(
  program: Program,
  files: readonly SourceFile[],
): (request: TypeRequest) => TypeOutcome {
  const compiler = new TypeCompiler(files);
  return ({ functionName, builder }) => {
    const compiled = compiler.compile(JSON.parse(builder), functionName);
    if (!compiled.ok) return compiled;
    const extension = JSON.stringify(compiled.value);
    const changed = definitionsOfArguments(program, compiled.value, functionName);
    if (changed === undefined) return ok({ extension });
    return ok({ extension, validators: new ValidatorCompiler(changed).source(functionName) });
  };
}
