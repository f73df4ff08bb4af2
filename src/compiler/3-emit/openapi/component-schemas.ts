import type { JsonObject } from '../../../base/json.ts';
import type { DefinitionIndex, FunctionType } from '../../../schema/program.ts';
import { JsonSchemas, plainLiterals, VIEW_SUFFIX, type View } from '../../../schema/json-schema.ts';
import type { ClassType, Type } from '../../../schema/type.ts';
import { openApiSchema, openLists, REFERENCE, schemaRef, type Referenced } from './dialect.ts';
import type { NameAllocator } from './name-allocator.ts';
import type { OwnSchemas } from './own-schemas.ts';

const NO_TAGS: Referenced['tags'] = new Map();

/** A class, enum or recursive alias as one view shows it. */
interface Definition {
  readonly name: string;
  readonly view: View;
}

/**
 * Schemas of types in the dialect of the document, and the component schemas that they lead to. A class has one
 * component for each view that uses it: `Resume`, `ResumePartial`, and `ResumeInput` where arguments and results differ.
 */
export class ComponentSchemas {
  readonly #index: DefinitionIndex;
  readonly #allocator: NameAllocator;
  readonly #own: OwnSchemas;
  readonly #schemas: JsonSchemas;
  /** Component names, by view and name. */
  readonly #names = new Map<string, string>();
  readonly #definitions = new Map<string, Definition>();
  readonly #components = new Map<string, JsonObject>();

  constructor(index: DefinitionIndex, own: OwnSchemas, allocator: NameAllocator) {
    this.#index = index;
    this.#own = own;
    this.#allocator = allocator;
    this.#schemas = new JsonSchemas(index, {
      named: (name, view) => this.#component(name, view),
      media: (kind) => own.media(kind),
      check: () => own.ref('SvcCheck'),
      propertyNames: false,
    });
  }

  /** The components that the schemas made so far lead to. */
  get components(): ReadonlyMap<string, JsonObject> {
    // The loop visits the definitions that it adds; a recursion could be as deep as a chain of classes is long.
    for (const [componentName, { name, view }] of this.#definitions) {
      if (this.#components.has(componentName)) continue;
      const schema = this.#dialect(this.#schemas.definition(name, view));
      this.#components.set(
        componentName,
        this.#index.aliases.has(name) ? openLists(schema, this.#aliasReferences()) : schema,
      );
    }
    return this.#components;
  }

  of(type: Type, view: View): JsonObject {
    return this.#dialect(this.#schemas.of(type, view));
  }

  /** The argument object of a function. */
  request(fn: FunctionType): JsonObject {
    return this.#dialect(this.#schemas.request(fn, { svc_options: this.#own.ref('SvcOptions') }));
  }

  #dialect(schema: JsonObject): JsonObject {
    return openApiSchema(schema, (reference) => this.#referenced(reference));
  }

  #referenced(reference: string): Referenced | undefined {
    const { name = '', view } = this.#definitions.get(reference.slice(REFERENCE.length)) ?? {};
    const type = this.#index.classes.get(name);
    // While a value grows, its tag can be null.
    if (type !== undefined) return { type: 'object', tags: view === 'partial' ? NO_TAGS : tagsOf(type, view) };
    return this.#index.enums.has(name) ? { type: 'string', tags: NO_TAGS } : undefined;
  }

  #component(name: string, view: View): JsonObject {
    const seen = this.#schemas.viewOf(name, view);
    const key = `${seen} ${name}`;
    const known = this.#names.get(key);
    if (known !== undefined) return schemaRef(known);
    const componentName = seen === 'output' ? name : this.#allocator.allocate(`${name}${VIEW_SUFFIX[seen]}`);
    this.#names.set(key, componentName);
    this.#definitions.set(componentName, { name, view: seen });
    return schemaRef(componentName);
  }

  /** References to the components of the aliases that schemas mentioned so far. */
  #aliasReferences(): ReadonlySet<string> {
    const components = [...this.#definitions].filter(([, { name }]) => this.#index.aliases.has(name));
    return new Set(components.map(([componentName]) => `${REFERENCE}${componentName}`));
  }
}

/** The fields whose type is one string. */
function tagsOf({ fields }: ClassType, view: View | undefined): Referenced['tags'] {
  const tags = new Map<string, string>();
  for (const { name, type, skip } of fields) {
    const [value] = plainLiterals(type);
    if (typeof value === 'string' && (view === 'input' || !skip)) tags.set(name, value);
  }
  return tags;
}
