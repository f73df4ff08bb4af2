import { CompletionItemKind as Kind, type CompletionItem } from 'vscode-languageserver/node';
import { parse } from '../../compiler/1-parse/parse.ts';
import {
  KNOWN_KEYS,
  type DeclarationNode,
  type DocumentNode,
  type EntryNode,
  type ParameterNode,
  type ValueNode,
} from '../../compiler/1-parse/syntax-nodes.ts';
import { STATEMENTS } from '../../compiler/1-parse/template/parse-template.ts';
import { ATTRIBUTES } from '../../compiler/2-check/rules/known-attributes.ts';
import {
  type AttributePlace,
  attributeSites,
  testedFunctions,
  typesIn,
  typeSites,
} from '../../compiler/2-check/scope.ts';
import { alternatives, type StaticValue } from '../../compiler/2-check/templates/static-value.ts';
import { NO_RULES, type TemplateWalker } from '../../compiler/2-check/templates/template-walker.ts';
import { walkValue } from '../../compiler/symbols.ts';
import { SourceFile } from '../../diagnostics/source-file.ts';
import { variablesIn } from '../../schema/client.ts';
import { rolesOf } from '../../compiler/2-check/rules/roles.ts';
import { ROLES } from '../../schema/providers/common-options.ts';
import type { Shape } from '../../schema/providers/option-shapes.ts';
import { PROVIDER_DESCRIPTIONS, PROVIDERS } from '../../schema/providers/providers.ts';
import { structuresOf } from '../../schema/structured-output.ts';
import type { Expression } from '../../schema/template.ts';
import { FILTERS, FUNCTIONS, METHODS, TESTS } from '../../schema/template-vocabulary.ts';
import { typeText } from '../../schema/type-graph.ts';
import { MEDIA, PRIMITIVES } from '../../schema/type.ts';
import type { EditedProgram } from './edited-program.ts';
import { declarationAt, rangeOf, touches } from './places.ts';
import { settingAt } from './setting-place.ts';
import { knownType, templateAt, walkTemplate } from './template-place.ts';
import type { FilePlace } from './workspace.ts';

/** The keywords that begin a definition, with the text to insert. */
const KEYWORDS: Readonly<Record<string, string>> = {
  class: 'class',
  enum: 'enum',
  type: 'type',
  function: 'function',
  client: 'client<llm>',
  retry_policy: 'retry_policy',
  template_string: 'template_string',
  test: 'test',
  generator: 'generator',
};

/** Takes the place of the word that the user is writing. No definition has this name. */
const MARK = 'zzCursorOfTheEditor';

/** Texts that can complete a tag, tried in this order after the mark: the closers of strings and calls that an editor has not added. */
const ENDINGS = ['', ' }}', '") }}', '" }}', ') }}', ' %}', '" %}', '"', '")'];

/** The start of a tag without its end. */
const IN_TAG = /\{[{%][^{}%]*$/u;

/** A function whose body is the mark. */
const ONLY_WORD = new RegExp(`\\{\\s*\\w*${MARK}\\w*\\s*\\}$`, 'u');

interface Suggestion extends CompletionItem {
  readonly label: string;
}

/**
 * Suggests what can follow at an offset. It puts a mark there and parses the file again: the part of the syntax that the mark becomes
 * decides. So a half-written definition affects nothing but itself. `variables`: names of environment variables beyond those in the program.
 */
export function completionsAt(
  { program, path, offset }: FilePlace,
  variables: readonly string[],
): readonly CompletionItem[] {
  const file = program.file(path);
  if (file === undefined) return [];
  const before = file.text.slice(0, offset);
  const found = new CompletionFinder(program, variables).find(file, offset);
  const word = found.inTemplate ? /[\p{L}\p{N}_]*$/u : /[\p{L}\p{N}_@./-]*$/u;
  const range = rangeOf(file, { start: offset - (word.exec(before)?.[0].length ?? 0), end: offset });
  return found.items.map(({ insertText, ...item }) => ({
    ...item,
    textEdit: { range, newText: insertText ?? item.label },
  }));
}

interface Found {
  readonly items: readonly Suggestion[];
  readonly inTemplate: boolean;
}

class CompletionFinder {
  readonly #program: EditedProgram;
  readonly #variables: readonly string[];
  #offset = 0;

  constructor(program: EditedProgram, variables: readonly string[]) {
    this.#program = program;
    this.#variables = variables;
  }

  find(file: SourceFile, offset: number): Found {
    // Within the mark, whatever precedes it.
    this.#offset = offset + 1;
    for (const ending of IN_TAG.test(file.text.slice(0, offset)) ? ENDINGS : ['']) {
      const text = `${file.text.slice(0, offset)}${MARK}${ending}${file.text.slice(offset)}`;
      const { document } = parse(new SourceFile(file.path, text));
      const place = templateAt(document, this.#offset);
      const items = place === undefined ? this.#inDefinitions(document) : this.#inTemplate(place, text);
      if (items.length > 0) return { items, inTemplate: place !== undefined };
    }
    return { items: this.#keywords(file, offset), inTemplate: false };
  }

  #keywords(file: SourceFile, offset: number): readonly Suggestion[] {
    const declarations = this.#program.document(file.path)?.declarations ?? [];
    if (declarations.some(({ span }) => span.start < offset && offset < span.end)) return [];
    const line = file.text.slice(file.text.lastIndexOf('\n', offset - 1) + 1, offset);
    if (!/^\s*\w*$/u.test(line)) return [];
    return Object.entries(KEYWORDS).map(([label, insertText]) => ({ label, kind: Kind.Keyword, insertText }));
  }

  // --- definitions ---------------------------------------------------------------------------------------------------

  #inDefinitions(document: DocumentNode): readonly Suggestion[] {
    const { file } = document;
    const owner = declarationAt(document, this.#offset);
    if (owner === undefined) return [];
    // Without a client and a prompt, the body of a function is code.
    const isNew = owner.kind === 'workflow' && ONLY_WORD.test(file.text.slice(owner.span.start, owner.span.end));
    return isNew ? suggestions(KNOWN_KEYS.function ?? [], Kind.Property) : this.#inDeclaration(owner);
  }

  #inDeclaration(owner: DeclarationNode): readonly Suggestion[] {
    const types = typeSites(owner).flatMap(({ type }) => typesIn(type));
    if (types.some((type) => type.kind === 'name' && type.name.includes(MARK))) return this.#types();
    for (const { place, attributes } of attributeSites(owner)) {
      if (attributes.some(({ name }) => name.includes(MARK))) return attributesOf(place);
    }
    const inner = owner.kind === 'test' ? owner.types.find(({ span }) => touches(span, this.#offset)) : undefined;
    if (inner !== undefined) return this.#inDeclaration(inner);
    return 'entries' in owner ? this.#inBlock(owner, owner.entries) : [];
  }

  #types(): readonly Suggestion[] {
    const { scope } = this.#program.analysis().context;
    return [
      ...suggestions([...PRIMITIVES, ...MEDIA, 'map'], Kind.Keyword),
      ...suggestions([...scope.classes.keys(), ...scope.aliases.keys()], Kind.Class),
      ...suggestions(scope.enums.keys(), Kind.Enum),
    ];
  }

  #inBlock(owner: DeclarationNode, entries: readonly EntryNode[]): readonly Suggestion[] {
    const entry = entries.find(({ key, value }) => touches(key.span, this.#offset) || this.#isIn(value));
    if (entry === undefined) return [];
    if (touches(entry.key.span, this.#offset)) {
      const present = new Set(entries.map(({ key }) => key.text));
      return suggestions(
        (KNOWN_KEYS[owner.kind] ?? []).filter((key) => !present.has(key)),
        Kind.Property,
      );
    }
    const setting = settingAt(owner, this.#offset);
    if (setting?.on === 'key') return settingsOf(setting);
    if (setting?.on === 'value') return this.#settingValue(setting);
    return this.#entryValue(owner, entry);
  }

  #isIn(value: ValueNode | undefined): boolean {
    return value !== undefined && touches(value.span, this.#offset);
  }

  #entryValue(owner: DeclarationNode, { key, value }: EntryNode): readonly Suggestion[] {
    const { scope } = this.#program.analysis().context;
    switch (`${owner.kind} ${key.text}`) {
      case 'function client':
        return this.#clients();
      case 'client provider':
        return suggestions(PROVIDERS, Kind.EnumMember);
      case 'client retry_policy':
        return suggestions(scope.retryPolicies.keys(), Kind.Constant);
      case 'test functions':
        return suggestions(scope.functions.keys(), Kind.Function);
      case 'test args':
        return owner.kind === 'test' && value?.kind === 'map' ? this.#arguments(owner, value.entries) : [];
      default:
        return [];
    }
  }

  #clients(): readonly Suggestion[] {
    const { scope } = this.#program.analysis().context;
    const shorthands = PROVIDERS.filter((name) => PROVIDER_DESCRIPTIONS[name].http !== undefined);
    return [
      ...suggestions(scope.clients.keys(), Kind.Constant),
      ...suggestions(
        shorthands.map((name) => `${name}/`),
        Kind.EnumMember,
      ),
    ];
  }

  #settingValue({
    value,
    shape,
    path,
  }: Extract<ReturnType<typeof settingAt>, { readonly on: 'value' }>): readonly Suggestion[] {
    const { scope } = this.#program.analysis().context;
    const last = path.at(-1);
    if (last === 'strategy' && path.length === 1 && shape.kind === 'text') return this.#clients();
    if (last === 'weights') return suggestions(scope.clients.keys(), Kind.Constant);
    if (last === 'function') return suggestions(scope.functions.keys(), Kind.Function);
    const written = value.kind === 'string' ? value.value : '';
    if (value.kind === 'string' && value.quoted) return wordsOf(shape);
    const variables = this.#variableNames().map((name) => `env.${name}`);
    return value.kind === 'env' || written.startsWith('env.')
      ? suggestions(variables, Kind.Variable)
      : [
          ...wordsOf(shape),
          ...(shape.kind === 'count' || shape.kind === 'one-of' ? [] : suggestions(variables, Kind.Variable)),
        ];
  }

  /** Names only: the values are secrets. */
  #variableNames(): readonly string[] {
    const clients = [...this.#program.definitions().clients.values()];
    const used = [
      ...clients.flatMap(({ options }) => options),
      ...this.#program.analysis().tests.flatMap(({ args }) => args),
    ];
    const ofProviders = clients.flatMap(({ provider }) => {
      const { keyVariable, variables = [] } = PROVIDER_DESCRIPTIONS[provider].http ?? {};
      return keyVariable === undefined ? variables : [keyVariable, ...variables];
    });
    return [...new Set([...this.#variables, ...used.flatMap(({ value }) => variablesIn(value)), ...ofProviders])];
  }

  #arguments(
    test: Extract<DeclarationNode, { readonly kind: 'test' }>,
    entries: readonly EntryNode[],
  ): readonly Suggestion[] {
    const { scope } = this.#program.analysis().context;
    const parameters = testedFunctions(test).flatMap((name) => scope.functions.get(name)?.parameters ?? []);
    const entry = entries.find(({ value }) => this.#isIn(value));
    if (entry === undefined) return members(parameters, entries);
    const type = parameters.find(({ name }) => name.text === entry.key.text)?.type;
    const parts: Array<{ readonly value: ValueNode; readonly typeName: string }> = [];
    walkValue(entry.value, type, scope, (value, typeName) => {
      if (this.#isIn(value)) parts.push({ value, typeName });
    });
    const innermost = parts.at(-1)?.value;
    return parts.filter(({ value }) => value === innermost).flatMap((part) => this.#valueOf(part.value, part.typeName));
  }

  /** Suggests the fields or enum values of a part of an argument. */
  #valueOf(value: ValueNode, typeName: string): readonly Suggestion[] {
    const { scope } = this.#program.analysis().context;
    if (value.kind === 'map') return members(scope.classes.get(typeName)?.fields ?? [], value.entries);
    const values = scope.enums.get(typeName)?.values ?? [];
    return suggestions(typeName === 'bool' ? ['true', 'false'] : values.map(({ name }) => name.text), Kind.EnumMember);
  }

  // --- templates -----------------------------------------------------------------------------------------------------

  #inTemplate(place: NonNullable<ReturnType<typeof templateAt>>, text: string): readonly Suggestion[] {
    const word = /\{%[-+]?\s*\w*$/u.exec(text.slice(0, this.#offset - 1));
    if (word !== null) {
      const ends = STATEMENTS.map((statement) => `end${statement}`);
      return suggestions([...STATEMENTS, 'elif', 'else', ...ends], Kind.Keyword);
    }
    let found: readonly Suggestion[] = [];
    const program = this.#program;
    walkTemplate(place, program.analysis(), program.definitions(), {
      ...NO_RULES,
      expressions: [
        (expression, walker) => {
          if (found.length === 0) found = this.#expression(expression, walker, place.owner);
        },
      ],
      filters: [
        ({ name }) => {
          if (name.includes(MARK)) found = vocabulary(FILTERS);
        },
      ],
      accesses: [
        (expression, walker) => {
          if (found.length === 0) found = this.#expression(expression, walker, place.owner);
        },
      ],
    });
    return found;
  }

  #expression(expression: Expression, walker: TemplateWalker, owner: DeclarationNode): readonly Suggestion[] {
    switch (expression.kind) {
      case 'name':
        return expression.name.includes(MARK) ? this.#names(walker, expression) : [];
      case 'attribute':
        return expression.name.includes(MARK) ? this.#members(walker.valueOf(expression.object)) : [];
      case 'index':
        return isMarked(expression.index) ? this.#members(walker.valueOf(expression.object)) : [];
      case 'test':
        return expression.name.includes(MARK) ? vocabulary(TESTS) : [];
      case 'binary':
        if (isMarked(expression.right)) return this.#enumValues(walker.valueOf(expression.left));
        return isMarked(expression.left) ? this.#enumValues(walker.valueOf(expression.right)) : [];
      case 'call': {
        const { callee, args } = expression;
        if (callee.kind === 'name' && callee.name.includes(MARK)) return this.#names(walker, callee);
        if (callee.kind !== 'attribute') return [];
        const object = walker.valueOf(callee.object);
        if (callee.name.includes(MARK)) return this.#members(object);
        return object.kind === 'chat' && args.positional.some(isMarked) ? this.#roles(owner) : [];
      }
      default:
        return [];
    }
  }

  /** Every name in scope, with its type. */
  #names(walker: TemplateWalker, { start, end }: Expression): readonly Suggestion[] {
    const names = new Set(walker.visibleNames());
    const variables = [...names].map((name): Suggestion => {
      const value = walker.expression({ kind: 'name', name, start, end });
      const type = knownType(value);
      const kind = value.kind === 'template-string' || value.kind === 'macro' ? Kind.Function : Kind.Variable;
      return { label: name, kind, ...(type !== '' && { detail: type }) };
    });
    return [
      ...variables,
      ...suggestions(this.#program.definitions().enums.keys(), Kind.Enum),
      ...vocabulary(FUNCTIONS),
    ];
  }

  #members(object: StaticValue): readonly Suggestion[] {
    if (object.kind === 'chat') return suggestions(['role', 'chat'], Kind.Method);
    if (object.kind === 'object') return suggestions(object.attributes.keys(), Kind.Property);
    if (object.kind === 'enum')
      return suggestions(
        object.type.values.map(({ name }) => name),
        Kind.EnumMember,
      );
    if (object.kind !== 'typed') return [];
    const definitions = this.#program.definitions();
    return alternatives(object.type, definitions).flatMap((type) => {
      if (type.kind === 'class')
        return (definitions.classes.get(type.name)?.fields ?? []).map(({ name, type: ofField, description }) => ({
          label: name,
          kind: Kind.Field,
          detail: typeText(ofField),
          ...(description !== undefined && { documentation: description }),
        }));
      return type.kind === 'string' || type.kind === 'list' || type.kind === 'map'
        ? vocabulary(METHODS[type.kind])
        : [];
    });
  }

  #enumValues(value: StaticValue): readonly Suggestion[] {
    const definitions = this.#program.definitions();
    const types = value.kind === 'typed' ? alternatives(value.type, definitions) : [];
    return types.flatMap((type) => {
      const literals = type.kind === 'literal' && typeof type.value === 'string' ? [type.value] : [];
      const values = type.kind === 'enum' ? (definitions.enums.get(type.name)?.values ?? []) : [];
      return suggestions([...literals, ...values.map(({ name }) => name)], Kind.EnumMember);
    });
  }

  /** The roles that a client of the function allows. */
  #roles(owner: DeclarationNode): readonly Suggestion[] {
    const definitions = this.#program.definitions();
    const client = definitions.functions.get(owner.name.text)?.client;
    const reached = client === undefined ? [] : structuresOf(client, definitions).keys();
    const allowed = rolesOf(reached, definitions);
    return suggestions(allowed ?? ROLES, Kind.EnumMember);
  }
}

function isMarked(expression: Expression): boolean {
  return expression.kind === 'string' && expression.value.includes(MARK);
}

function suggestions(labels: Iterable<string>, kind: Kind): readonly Suggestion[] {
  return [...labels].filter((label) => !label.includes(MARK)).map((label) => ({ label, kind }));
}

/** Words of the template language with their parameters. */
function vocabulary(words: Readonly<Record<string, readonly string[]>>): readonly Suggestion[] {
  return Object.entries(words)
    .filter(([label]) => /^\w/u.test(label))
    .map(([label, parameters]) => ({ label, kind: Kind.Function, detail: `${label}(${parameters.join(', ')})` }));
}

function attributesOf(place: AttributePlace): readonly Suggestion[] {
  const at = place === 'class' || place === 'enum' || place === 'test' ? '@@' : '@';
  const names = Object.entries(ATTRIBUTES).filter(([, places]) => places[place] === 'effect');
  return suggestions(
    names.map(([name]) => `${at}${name}`),
    Kind.Property,
  );
}

function settingsOf({
  table,
  siblings,
}: Extract<ReturnType<typeof settingAt>, { readonly on: 'key' }>): readonly Suggestion[] {
  const present = new Set(siblings.map(({ key }) => key.text));
  return Object.entries(table)
    .filter(([label]) => !present.has(label))
    .map(([label, { text }]) => ({
      label,
      kind: Kind.Property,
      ...(text !== undefined && { documentation: { kind: 'markdown' as const, value: text } }),
    }));
}

function wordsOf(shape: Shape): readonly Suggestion[] {
  if (shape.kind === 'one-of') return suggestions(shape.words, Kind.EnumMember);
  if (shape.kind === 'either') return shape.shapes.flatMap(wordsOf);
  return shape.kind === 'boolean' ? suggestions(['true', 'false'], Kind.Keyword) : [];
}

/** The parameters or fields that a map does not have yet. */
function members(
  nodes: ReadonlyArray<Pick<ParameterNode, 'name'>>,
  entries: readonly EntryNode[],
): readonly Suggestion[] {
  const present = new Set(entries.map(({ key }) => key.text));
  const names = nodes.map(({ name }) => name.text);
  return suggestions(new Set(names.filter((name) => !present.has(name))), Kind.Field);
}
