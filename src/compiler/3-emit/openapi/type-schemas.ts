import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { acceptsNull } from '../../../schema/type-graph.ts';
import type { Constraint } from '../../../schema/constraint.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import { typeText } from '../../../schema/type-text.ts';
import type { ClassType, EnumType, FieldType, Type } from '../../../schema/type.ts';
import type { NameAllocator } from './name-allocator.ts';
import { openLists } from './open-lists.ts';
import type { OwnSchemas } from './own-schemas.ts';
import { anyOf, choice, described, NULL, nullable, objectSchema, schemaRef } from './schema-shapes.ts';
import { namesWithOwnInput, namesWithState, showsState } from './view-difference.ts';

/** How a type is seen: as an argument, as a result, or as a snapshot of a result that is still growing. */
export type View = 'input' | 'output' | 'partial';

const SUFFIX: Readonly<Record<View, string>> = { input: 'Input', output: '', partial: 'Partial' };

/**
 * Schemas of types, and the component schemas that they lead to. A class has one component for each view it is used
 * in: `Resume`, `ResumePartial`, and `ResumeInput` where arguments and results are not written alike.
 */
export class TypeSchemas {
  readonly #index: DefinitionIndex;
  readonly #withOwnInput: ReadonlySet<string>;
  readonly #withState: ReadonlySet<string>;
  readonly #own: OwnSchemas;
  readonly #allocator: NameAllocator;
  readonly #names = new Map<string, string>();
  readonly #components = new Map<string, JsonObject>();
  readonly #pending: Array<{ readonly componentName: string; readonly name: string; readonly view: View }> = [];

  constructor(index: DefinitionIndex, own: OwnSchemas, allocator: NameAllocator) {
    this.#index = index;
    this.#withOwnInput = namesWithOwnInput(index);
    this.#withState = namesWithState(index);
    this.#own = own;
    this.#allocator = allocator;
  }

  /** Components that the schemas made so far lead to. */
  get components(): ReadonlyMap<string, JsonObject> {
    // A queue and no recursion: definitions may refer to one another in chains of any length.
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      this.#components.set(next.componentName, this.#definition(next.name, next.view));
    }
    return this.#components;
  }

  /** The schema of a whole value; wrappers of `@check` and `@stream.with_state` included. */
  of(type: Type, view: View): JsonObject {
    if (view === 'input') return this.#bare(type, view);
    const inner = this.#bare(type, this.#isDone(type) && !showsState(type, this.#withState) ? 'output' : view);
    const checked = this.#withChecks(type, inner, view);
    return view === 'partial' && type.stream?.withState === true ? withState(type, checked) : checked;
  }

  #withChecks(type: Type, schema: JsonObject, view: View): JsonObject {
    const labels = this.#checkLabels(type);
    if (labels.length === 0) return schema;
    const checks = Object.fromEntries(labels.map((label) => [label, this.#own.ref('SvcCheck')]));
    return view === 'partial'
      ? objectSchema({ value: nullableOf(type, schema), checks: objectSchema(checks, []) })
      : objectSchema({ value: schema, checks: objectSchema(checks) });
  }

  /** The checks of the class, enum or alias come first, then those of the use: one wrapper holds them all. */
  #checkLabels(type: Type): readonly string[] {
    return [...this.#declaredLabels(type), ...checkLabels(type.constraints)];
  }

  #declaredLabels(type: Type): readonly string[] {
    switch (type.kind) {
      case 'class':
        return checkLabels(this.#class(type.name).constraints);
      case 'enum':
        return checkLabels(this.#index.enums.get(type.name)?.constraints);
      case 'alias': {
        const target = this.#index.aliases.get(type.name)?.type;
        return target === undefined ? [] : this.#checkLabels(target);
      }
      default:
        return [];
    }
  }

  #isDone(type: Type): boolean {
    return type.stream?.done === true || (type.kind === 'class' && this.#class(type.name).streamDone);
  }

  #bare(type: Type, view: View): JsonObject {
    switch (type.kind) {
      case 'string':
        return { type: 'string' };
      case 'int':
        return { type: 'integer', format: 'int64' };
      case 'float':
        return { type: 'number', format: 'double' };
      case 'bool':
        return { type: 'boolean' };
      case 'null':
        return NULL;
      case 'literal':
        return choice([type.value]);
      case 'media':
        return this.#own.media(type.media);
      case 'class':
      case 'enum':
      case 'alias':
        return this.#component(type.name, view);
      case 'list':
        return { type: 'array', items: this.of(type.element, view) };
      case 'map':
        return this.#map(type.key, type.value, view);
      case 'union':
        return this.#union(type.members, view);
    }
  }

  #map(key: Type, value: Type, view: View): JsonObject {
    const schema = { type: 'object', additionalProperties: this.of(value, view) };
    return key.kind === 'string' ? schema : described(schema, `Keys: ${keyText(key, this.#index)}.`);
  }

  /** Literals of one JSON type become one enum; null is allowed beside the rest. */
  #union(members: readonly Type[], view: View): JsonObject {
    const schemas: JsonObject[] = [];
    for (const group of ['string', 'number', 'boolean']) {
      const values = members.flatMap((member) => plainLiterals(member)).filter((value) => typeof value === group);
      if (values.length > 0) schemas.push(choice(values));
    }
    const others = members.filter((member) => member.kind !== 'null' && plainLiterals(member).length === 0);
    const union = anyOf([...schemas, ...others.map((member) => this.of(member, view))]);
    if (!members.some((member) => member.kind === 'null')) return union;
    return nullableOf(schemas.length === 0 && others.length === 1 ? others[0] : undefined, union);
  }

  #component(name: string, view: View): JsonObject {
    const seen = this.#viewOf(name, view);
    const key = `${seen} ${name}`;
    const known = this.#names.get(key);
    if (known !== undefined) return schemaRef(known);
    const componentName = seen === 'output' ? name : this.#allocator.allocate(`${name}${SUFFIX[seen]}`);
    this.#names.set(key, componentName);
    this.#pending.push({ componentName, name, view: seen });
    return schemaRef(componentName);
  }

  #viewOf(name: string, view: View): View {
    if (view === 'input') return this.#withOwnInput.has(name) ? 'input' : 'output';
    return this.#index.enums.has(name) ? 'output' : view;
  }

  #definition(name: string, view: View): JsonObject {
    const enumType = this.#index.enums.get(name);
    if (enumType !== undefined) return enumSchema(enumType, view);
    const alias = this.#index.aliases.get(name);
    if (alias !== undefined) {
      // Each use of the alias wraps what its checks report.
      return described(openLists(this.#bare(alias.type, view), this.#aliasReferences()), alias.documentation);
    }
    return this.#classSchema(this.#class(name), view);
  }

  /** References to the components of aliases that were mentioned so far. */
  #aliasReferences(): ReadonlySet<string> {
    const components = [...this.#names].filter(([key]) => this.#index.aliases.has(key.slice(key.indexOf(' ') + 1)));
    return new Set(components.map(([, name]) => `#/components/schemas/${name}`));
  }

  #classSchema(type: ClassType, view: View): JsonObject {
    const fields = type.fields.filter((field) => view === 'input' || !field.skip);
    const properties = fields.map((field): [string, JsonValue] => [
      field.name,
      described(this.#field(field, view), field.documentation, field.description),
    ]);
    const optional = (field: FieldType): boolean => view === 'input' && acceptsNull(field.type, this.#index.aliases);
    const required = fields.filter((field) => !optional(field)).map((field) => field.name);
    const growing = view === 'partial' ? `${type.name} while it grows: what is not there yet is null.` : undefined;
    const schema = objectSchema(Object.fromEntries(properties), required);
    return described(schema, growing, type.documentation, type.description);
  }

  #field(field: FieldType, view: View): JsonObject {
    const schema = this.of(field.type, view);
    if (view !== 'partial' || field.streamNotNull || this.#alwaysThere(field.type)) return schema;
    return nullableOf(field.type, schema);
  }

  /** Wrappers are there from the start, lists and maps begin empty. */
  #alwaysThere(type: Type): boolean {
    if (type.stream?.withState === true || this.#checkLabels(type).length > 0) return true;
    return type.stream?.done !== true && (type.kind === 'list' || type.kind === 'map');
  }

  #class(name: string): ClassType {
    return this.#index.classes.get(name) ?? { name, fields: [], constraints: [], streamDone: false, dynamic: false };
  }
}

/** Null allowed beside values of the type. */
function nullableOf(type: Type | undefined, schema: JsonObject): JsonObject {
  if (type?.kind === 'class') return nullable(schema, 'object');
  return type?.kind === 'enum' ? nullable(schema, 'string') : nullable(schema);
}

function withState(type: Type, schema: JsonObject): JsonObject {
  return objectSchema({ value: nullableOf(type, schema), state: choice(['Pending', 'Incomplete', 'Complete']) });
}

/** The value of a literal that nothing wraps; nothing for other types. */
function plainLiterals(type: Type): ReadonlyArray<string | number | boolean> {
  const wrapped = checkLabels(type.constraints).length > 0 || type.stream?.withState === true;
  return type.kind === 'literal' && !wrapped ? [type.value] : [];
}

function checkLabels(constraints: readonly Constraint[] = []): readonly string[] {
  return constraints.flatMap(({ level, label }) => (level === 'check' && label !== undefined ? [label] : []));
}

function enumSchema(type: EnumType, view: View): JsonObject {
  const values = type.values.filter((value) => view === 'input' || !value.skip);
  const lines = values.flatMap(({ name, documentation, description }) => {
    const text = documentation ?? description;
    return text === undefined ? [] : [`- \`${name}\`: ${text}`];
  });
  const schema = values.length === 0 ? { type: 'string', maxLength: 0 } : choice(values.map((value) => value.name));
  return described(schema, type.documentation, type.description, lines.join('\n'));
}

function keyText(key: Type, index: DefinitionIndex): string {
  if (key.kind !== 'enum') return `\`${typeText(key)}\``;
  const names = index.enums.get(key.name)?.values.map((value) => `\`${value.name}\``) ?? [];
  return `${key.name} (${names.join(', ')})`;
}
