import type { DefinitionIndex } from '../../schema/program.ts';
import type { ClassType, EnumType, EnumValueType, FieldType, Type, AliasType } from '../../schema/type.ts';
import { TemplateFault, type Work } from './values/work.ts';
import { OUTPUT_FORMAT_OPTIONS } from '../../schema/template-vocabulary.ts';
import { type PromptOutput, type CallArguments, isList, isTrue, Special, type Value } from './values/value.ts';
import { plainTextOf } from './values/print-value.ts';
import { groupsInSearchOrder } from '../../base/strongly-connected.ts';
import { insideOf } from '../../schema/type-graph.ts';

/** Options of the description of the expected output. */
interface OutputFormatOptions {
  /** The sentence before the type: chosen by the kind of type, none, or this one. */
  readonly prefix: 'auto' | 'none' | { readonly text: string };
  readonly orSplitter: string;
  readonly enumValuePrefix: string;
  readonly alwaysHoistEnums: boolean;
  /** Classes that are defined before the type, besides the recursive ones. */
  readonly hoistClasses: 'recursive' | 'all' | readonly string[];
  /** Word before the name of a hoisted class; empty for none. */
  readonly hoistedClassPrefix: string;
  readonly mapStyle: 'angle' | 'object';
  readonly quoteClassFields: boolean;
  readonly renderNullAs: string;
}

const DEFAULT_OUTPUT_FORMAT: OutputFormatOptions = {
  prefix: 'auto',
  orSplitter: ' or ',
  enumValuePrefix: '- ',
  alwaysHoistEnums: false,
  hoistClasses: 'recursive',
  hoistedClassPrefix: '',
  mapStyle: 'angle',
  quoteClassFields: false,
  renderNullAs: 'null',
};

/** An enum with more values is defined before the type instead of inline. */
const MAX_INLINE_VALUES = 6;
/** An enum in a list is written `X[]` up to this number of characters. */
const MAX_SHORT_ELEMENT = 15;

/** Describes the expected answer to a model: hoisted definitions, then a sentence, then the type. */
function describeOutput(target: Type, definitions: OutputDefinitions, options: OutputFormatOptions): string {
  return new OutputDescription(target, definitions, options).text();
}

class OutputDescription {
  readonly #target: Type;
  readonly #index: DefinitionIndex;
  readonly #options: OutputFormatOptions;
  readonly #reachable: ReachableTypes;
  readonly #hoistedClasses: readonly ClassType[];
  readonly #hoistedNames: ReadonlySet<string>;

  constructor(target: Type, definitions: OutputDefinitions, options: OutputFormatOptions) {
    this.#target = target;
    this.#index = definitions.index;
    this.#options = options;
    this.#reachable = reachableTypes(target, definitions);
    this.#hoistedClasses = this.#classesToHoist();
    this.#hoistedNames = new Set(this.#hoistedClasses.map((type) => type.name));
  }

  text(): string {
    const { prefix } = this.#options;
    if (this.#target.kind === 'string' && typeof prefix === 'string') return '';
    return [...this.#hoistedDefinitions(), this.#sentence() + this.#targetBody()].join('\n\n');
  }

  #sentence(): string {
    const { prefix, hoistedClassPrefix, renderNullAs } = this.#options;
    if (typeof prefix !== 'string') return prefix.text;
    if (prefix === 'none') return '';
    const hoisted = this.#target.kind === 'class' && this.#hoistedNames.has(this.#target.name);
    return outputPrefix(this.#target, { hoisted, word: hoistedClassPrefix, nullText: renderNullAs });
  }

  #targetBody(): string {
    const enumType = this.#target.kind === 'enum' ? this.#index.enums.get(this.#target.name) : undefined;
    return enumType === undefined ? this.#body(this.#target) : this.#enumBlock(enumType);
  }

  #hoistedDefinitions(): readonly string[] {
    const { enums, aliases } = this.#reachable;
    const targetEnum = this.#target.kind === 'enum' ? this.#target.name : undefined;
    return [
      ...enums
        .filter((type) => type.name !== targetEnum && this.#isHoistedEnum(type))
        .map((type) => this.#enumBlock(type)),
      ...this.#hoistedClasses.map((type) => `${this.#classPrefix()}${type.name} ${this.#classBody(type)}`),
      ...(aliases.length > 0
        ? [aliases.map(({ name, type }) => `${this.#classPrefix()}${name} = ${this.#body(type)}`).join('\n')]
        : []),
    ];
  }

  #classPrefix(): string {
    const { hoistedClassPrefix } = this.#options;
    return hoistedClassPrefix === '' ? '' : `${hoistedClassPrefix} `;
  }

  /** Recursive classes come first. */
  #classesToHoist(): readonly ClassType[] {
    const { classes, recursive } = this.#reachable;
    const { hoistClasses } = this.#options;
    if (hoistClasses === 'recursive') return recursive;
    if (hoistClasses !== 'all') this.#assertClassesExist(hoistClasses);
    const wanted =
      hoistClasses === 'all'
        ? classes
        : hoistClasses.flatMap((name) => classes.find((type) => type.name === name) ?? []);
    return [...new Set([...recursive, ...wanted])];
  }

  #assertClassesExist(names: readonly string[]): void {
    for (const name of names) {
      if (!this.#index.classes.has(name)) throw new TemplateFault('"hoist_classes" names a class that does not exist');
    }
  }

  #body(type: Type): string {
    switch (type.kind) {
      case 'string':
      case 'int':
      case 'float':
      case 'bool':
        return type.kind;
      case 'null':
        return this.#options.renderNullAs;
      case 'literal':
        return JSON.stringify(type.value);
      case 'media':
        throw new TemplateFault(`the output contains ${type.media}, which a model cannot return`);
      case 'class':
        return this.#classReference(type.name);
      case 'enum':
        return this.#enumReference(type.name);
      case 'alias':
        return type.name;
      case 'list':
        return this.#list(type.element);
      case 'map':
        return this.#map(type.key, type.value);
      case 'union':
        return type.members.map((member) => this.#body(member)).join(this.#options.orSplitter);
    }
  }

  #classReference(name: string): string {
    const type = this.#index.classes.get(name);
    return type === undefined || this.#hoistedNames.has(name) ? name : this.#classBody(type);
  }

  #classBody(type: ClassType): string {
    const lines = ['{'];
    if (type.description !== undefined) lines.push(comment(type.description), '');
    for (const field of type.fields) if (!field.skip) lines.push(...this.#field(field));
    lines.push('}');
    return lines.join('\n');
  }

  #field(field: FieldType): readonly string[] {
    const name = field.alias ?? field.name;
    const written = this.#options.quoteClassFields ? `"${name}"` : name;
    const line = `  ${written}: ${indent(this.#body(field.type))},`;
    return field.description === undefined ? [line] : [comment(field.description), line];
  }

  #list(element: Type): string {
    const inner = this.#body(element);
    if (this.#isShort(element, inner)) return `${inner}[]`;
    if (element.kind === 'union' && element.members.some(isPrimitiveOrList)) return `(${inner})[]`;
    return `[\n  ${indent(inner)}\n]`;
  }

  #isShort(element: Type, text: string): boolean {
    if (element.kind === 'enum') return text.length <= MAX_SHORT_ELEMENT;
    return (
      isPrimitive(element) ||
      element.kind === 'alias' ||
      (element.kind === 'class' && this.#hoistedNames.has(element.name))
    );
  }

  #map(key: Type, value: Type): string {
    const [keyText, valueText] = [this.#body(key), this.#body(value)];
    return this.#options.mapStyle === 'angle' ? `map<${keyText}, ${valueText}>` : `{${keyText}: ${valueText}}`;
  }

  #enumReference(name: string): string {
    const type = this.#index.enums.get(name);
    if (type === undefined) return name;
    if (this.#isHoistedEnum(type)) return type.alias ?? type.name;
    return visibleValues(type)
      .map((value) => `'${value.alias ?? value.name}'`)
      .join(this.#options.orSplitter);
  }

  #isHoistedEnum(type: EnumType): boolean {
    const values = visibleValues(type);
    return (
      this.#options.alwaysHoistEnums ||
      values.length > MAX_INLINE_VALUES ||
      values.some((value) => value.description !== undefined)
    );
  }

  #enumBlock(type: EnumType): string {
    const lines = visibleValues(type).map((value) => {
      const description = value.description === undefined ? '' : `: ${indent(value.description)}`;
      return `${this.#options.enumValuePrefix}${value.alias ?? value.name}${description}`;
    });
    return [type.alias ?? type.name, '----', ...lines].join('\n');
  }
}

function visibleValues(type: EnumType): readonly EnumValueType[] {
  return type.values.filter((value) => !value.skip);
}

function isPrimitive(type: Type): boolean {
  return ['string', 'int', 'float', 'bool', 'null'].includes(type.kind);
}

/** A primitive, or a list of them at any depth. */
function isPrimitiveOrList(type: Type): boolean {
  return type.kind === 'list' ? isPrimitiveOrList(type.element) : isPrimitive(type);
}

function comment(text: string): string {
  return `  // ${text.replaceAll('\n', '\n  // ')}`;
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

interface TargetNaming {
  /** The target is defined above, and only its name appears. */
  readonly hoisted: boolean;
  /** The word for a definition; empty for `schema`. */
  readonly word: string;
  readonly nullText: string;
}

/** The sentence before the type, by the kind of type. */
function outputPrefix(target: Type, { hoisted, word, nullText }: TargetNaming): string {
  switch (target.kind) {
    case 'string':
      return '';
    case 'int':
      return 'Answer as an ';
    case 'float':
    case 'bool':
      return 'Answer as a ';
    case 'null':
      return `Answer ONLY with ${nullText}:\n`;
    case 'literal':
      return 'Answer using this specific value:\n';
    case 'enum':
      return 'Answer with any of the categories:\n';
    case 'list':
      return 'Answer with a JSON Array using this schema:\n';
    case 'class':
      return `Answer in JSON using this ${word === '' ? 'schema' : word}:${hoisted ? ' ' : '\n'}`;
    case 'alias':
      return `Answer in JSON using this ${word === '' ? 'schema' : word}: `;
    case 'map':
    case 'media':
      return 'Answer in JSON using this schema:\n';
    case 'union':
      return isOptional(target.members)
        ? 'Answer in JSON using this schema:\n'
        : 'Answer in JSON using any of these schemas:\n';
  }
}

function isOptional(members: readonly Type[]): boolean {
  return members.filter((member) => member.kind !== 'null').length < 2;
}

/** Sets of options whose texts are kept; templates use one or two. */
const MAX_REMEMBERED = 64;

/** `ctx.output_format`, with or without options. Keeps the text for each set of options. */
export class OutputFormatValue extends Special {
  readonly kindName = 'output format';
  readonly #target: Type;
  readonly #definitions: OutputDefinitions;
  readonly #texts = new Map<string, string>();
  #plain: string | undefined;

  constructor(target: Type, definitions: OutputDefinitions) {
    super();
    this.#target = target;
    this.#definitions = definitions;
  }

  override call(args: CallArguments, work: Work): Value {
    const options = outputFormatOptions(args, work);
    const key = JSON.stringify(options);
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = describeOutput(this.#target, this.#definitions, options);
    if (this.#texts.size < MAX_REMEMBERED) this.#texts.set(key, text);
    return text;
  }

  override print(out: PromptOutput): void {
    this.#plain ??= describeOutput(this.#target, this.#definitions, DEFAULT_OUTPUT_FORMAT);
    out.write(this.#plain);
  }
}

/** Reads the arguments of `ctx.output_format(…)`. */
function outputFormatOptions({ positional, named }: CallArguments, work: Work): OutputFormatOptions {
  if (positional.length > 0) throw new TemplateFault('"ctx.output_format" takes named arguments only');
  for (const name of named.keys()) {
    if (!(OUTPUT_FORMAT_OPTIONS as readonly string[]).includes(name)) {
      throw new TemplateFault(
        `"ctx.output_format" has no option "${name}" (it has ${OUTPUT_FORMAT_OPTIONS.join(', ')})`,
      );
    }
  }
  const text = (name: string, fallback: string): string => textOption(named.get(name), fallback, work);
  return {
    prefix: prefixOption(named, work),
    orSplitter: text('or_splitter', DEFAULT_OUTPUT_FORMAT.orSplitter),
    enumValuePrefix: named.has('enum_value_prefix')
      ? text('enum_value_prefix', '')
      : DEFAULT_OUTPUT_FORMAT.enumValuePrefix,
    alwaysHoistEnums: isTrue(named.get('always_hoist_enums'), work),
    hoistClasses: hoistOption(named.get('hoist_classes'), work),
    hoistedClassPrefix: text('hoisted_class_prefix', ''),
    mapStyle: mapStyleOption(named.get('map_style')),
    quoteClassFields: isTrue(named.get('quote_class_fields'), work),
    renderNullAs: text('render_null_as', DEFAULT_OUTPUT_FORMAT.renderNullAs),
  };
}

/** An explicit `none`, or an undefined name such as `null`, leaves the sentence out. */
function prefixOption(named: CallArguments['named'], work: Work): OutputFormatOptions['prefix'] {
  if (!named.has('prefix')) return 'auto';
  const prefix = named.get('prefix');
  return prefix === undefined || prefix === null ? 'none' : { text: plainTextOf(prefix, work) };
}

function textOption(value: Value, fallback: string, work: Work): string {
  return value === undefined || value === null ? fallback : plainTextOf(value, work);
}

function hoistOption(value: Value, work: Work): OutputFormatOptions['hoistClasses'] {
  if (value === undefined || value === null || value === false || value === 'auto') return 'recursive';
  if (value === true) return 'all';
  if (isList(value)) return value.map((name) => plainTextOf(name, work));
  throw new TemplateFault('"hoist_classes" must be true, false, "auto" or a list of class names');
}

function mapStyleOption(value: Value): OutputFormatOptions['mapStyle'] {
  if (value === undefined || value === null) return DEFAULT_OUTPUT_FORMAT.mapStyle;
  if (value === 'angle' || value === 'object') return value;
  throw new TemplateFault('"map_style" must be "angle" or "object"');
}

/** The definitions that a type refers to, directly or not. */
interface ReachableTypes {
  readonly classes: readonly ClassType[];
  /** The classes that can contain themselves. */
  readonly recursive: readonly ClassType[];
  readonly enums: readonly EnumType[];
  readonly aliases: readonly AliasType[];
}

/** All definitions, and the groups of those that contain themselves, which the output formats of all functions share. */
export class OutputDefinitions {
  readonly index: DefinitionIndex;
  #classGroups: ReadonlyMap<string, readonly string[]> | undefined;
  #aliasGroups: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(index: DefinitionIndex) {
    this.index = index;
  }

  get classGroups(): ReadonlyMap<string, readonly string[]> {
    return (this.#classGroups ??= recursiveGroups(classEdges(this.index)));
  }

  get aliasGroups(): ReadonlyMap<string, readonly string[]> {
    return (this.#aliasGroups ??= recursiveGroups(aliasEdges(this.index)));
  }
}

/**
 * Collects the definitions that the output can consist of. The order is that of a stack, so the last field comes first, except
 * that a recursive class or alias comes with the others of its group: existing prompts were tuned with definitions in this order.
 */
function reachableTypes(target: Type, definitions: OutputDefinitions): ReachableTypes {
  const search = new Search(definitions);
  search.visit(target);
  const { classes, recursive, enums, aliases } = search;
  return { classes: [...classes], recursive: [...recursive], enums: [...enums], aliases: [...aliases] };
}

class Search {
  readonly classes = new Set<ClassType>();
  readonly recursive = new Set<ClassType>();
  readonly enums = new Set<EnumType>();
  readonly aliases = new Set<AliasType>();
  readonly #definitions: OutputDefinitions;
  readonly #index: DefinitionIndex;
  readonly #stack: Type[] = [];

  constructor(definitions: OutputDefinitions) {
    this.#definitions = definitions;
    this.#index = definitions.index;
  }

  visit(target: Type): void {
    this.#stack.push(target);
    for (let type = this.#stack.pop(); type !== undefined; type = this.#stack.pop()) {
      if (type.kind === 'enum') this.#addEnum(type.name);
      else if (type.kind === 'class') this.#addClass(type.name);
      else if (type.kind === 'alias') this.#addAliases(type.name);
      else this.#stack.push(...insideOf(type));
    }
  }

  #addEnum(name: string): void {
    const found = this.#index.enums.get(name);
    if (found !== undefined) this.enums.add(found);
  }

  #addClass(name: string): void {
    const found = this.#index.classes.get(name);
    if (found === undefined || this.classes.has(found)) return;
    this.classes.add(found);
    for (const other of this.#definitions.classGroups.get(name) ?? []) {
      const type = this.#index.classes.get(other);
      if (type !== undefined) this.recursive.add(type);
    }
    this.#stack.push(...visibleFieldTypes(found));
  }

  #addAliases(name: string): void {
    for (const other of this.#definitions.aliasGroups.get(name) ?? [name]) {
      const found = this.#index.aliases.get(other);
      if (found === undefined || this.aliases.has(found)) continue;
      this.aliases.add(found);
      this.#stack.push(found.type);
    }
  }
}

function classEdges(index: DefinitionIndex): ReadonlyMap<string, readonly string[]> {
  const classes = [...index.classes.values()];
  return new Map(classes.map((type) => [type.name, namesIn(visibleFieldTypes(type), 'class', index)]));
}

function aliasEdges(index: DefinitionIndex): ReadonlyMap<string, readonly string[]> {
  const aliases = [...index.aliases.values()];
  return new Map(aliases.map(({ name, type }) => [name, namesIn([type], 'alias', index)]));
}

/** Returns the classes or aliases that the types mention; classes also through aliases. */
function namesIn(types: readonly Type[], kind: 'class' | 'alias', index: DefinitionIndex): readonly string[] {
  const names = new Set<string>();
  const seen = new Set<string>();
  const stack = [...types];
  for (let type = stack.pop(); type !== undefined; type = stack.pop()) {
    if (type.kind === kind) names.add(type.name);
    else if (type.kind === 'alias') {
      const alias = seen.has(type.name) ? undefined : index.aliases.get(type.name);
      seen.add(type.name);
      if (alias !== undefined) stack.push(alias.type);
    } else stack.push(...insideOf(type));
  }
  return [...names];
}

function visibleFieldTypes(type: ClassType): readonly Type[] {
  return type.fields.filter((field) => !field.skip).map((field) => field.type);
}

/**
 * Finds the names that lead back to themselves, each with its group: the names that it leads to and that lead back to it.
 * `edges` maps every name, in the order of declaration, to the names that it mentions.
 *
 * Existing prompts were tuned with this order within a group: a depth-first search visits the names, and those that each
 * name mentions, in the order of declaration. A group lists its names in the order of the search, rotated so that the one
 * declared first comes first.
 */
export function recursiveGroups(edges: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const positions = new Map([...edges.keys()].map((name, position) => [name, position]));
  const place = (name: string): number => positions.get(name) ?? Infinity;
  const declared = (name: string): readonly string[] =>
    (edges.get(name) ?? []).filter((other) => edges.has(other)).toSorted((a, b) => place(a) - place(b));
  const groups = groupsInSearchOrder([...edges.keys()], declared).map((names) => {
    const first = names.indexOf(names.reduce((a, b) => (place(b) < place(a) ? b : a)));
    return [...names.slice(first), ...names.slice(0, first)];
  });
  return new Map(groups.flatMap((group) => group.map((name) => [name, group] as const)));
}
