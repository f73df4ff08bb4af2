import { invariant } from '../../../base/invariant.ts';
import type { Constraint } from '../../../schema/constraint.ts';
import type { CompileCondition, DefinitionIndex } from '../../../schema/program.ts';
import type { EnumType, FieldType, Type, TypeShape } from '../../../schema/type.ts';
import { AttributePlan, type RunnableConstraint } from './attribute-plan.ts';
import { ClassPlan } from './class-plan.ts';
import { type FieldPlan } from './class-fields.ts';
import { coercionError } from './coercion-error.ts';
import { LabelMatcher, LabelPlan, LabelSet, type Label } from './labels.ts';
import { ListPlan } from './list-plan.ts';
import { MapPlan } from './map-plan.ts';
import { FloatPlan, IntPlan } from './numbers.ts';
import type { Plan } from './plan.ts';
import { BoolPlan, LiteralPlan, MediaPlan, NullPlan, StringPlan } from './scalars.ts';
import { UnionPlan } from './union-plan.ts';

/** Compiles the plan of a type. Throws if the type refers to a definition that does not exist. */
export function compilePlan(type: Type, definitions: DefinitionIndex, compileCondition: CompileCondition): Plan {
  return new PlanCompiler(definitions, compileCondition).compile(type);
}

/** Compiles each class, enum and alias once, so that recursive types refer to themselves. */
class PlanCompiler {
  readonly #definitions: DefinitionIndex;
  readonly #compileCondition: CompileCondition;
  readonly #named = new Map<string, Plan>();
  /** The plans by their types as JSON: values store their results by plan, so equal types share one. */
  readonly #known = new Map<string, Plan>();
  /** The plans of list elements and map values, which are compiled after the plan that refers to them. */
  readonly #members: (() => Plan)[] = [];
  /** The labels of each enum as values, and as the keys of maps. */
  readonly #labels = { values: new Map<string, LabelSet>(), keys: new Map<string, LabelSet>() };

  constructor(definitions: DefinitionIndex, compileCondition: CompileCondition) {
    this.#definitions = definitions;
    this.#compileCondition = compileCondition;
  }

  compile(type: Type): Plan {
    const plan = this.#plan(type);
    for (const member of this.#members) member(); // Compiling a member can append others.
    return plan;
  }

  #plan(type: Type): Plan {
    return shared(this.#known, JSON.stringify(type), () => this.#newPlan(type));
  }

  #newPlan(type: Type): Plan {
    const attributes = this.#attributes(type);
    const constraints = attributes.constraints.map((constraint) => this.#runnable(constraint, type));
    const inner = this.#shape(type);
    const plain = constraints.length === 0 && !attributes.done && !attributes.withState;
    return plain ? inner : new AttributePlan(inner, { ...attributes, constraints });
  }

  #runnable(constraint: Constraint, type: Type): RunnableConstraint {
    const of = { type, definitions: this.#definitions };
    return { ...constraint, condition: this.#compileCondition(constraint.expression, of) };
  }

  /** `alias`: the name of the alias that the shape belongs to. */
  #shape(type: TypeShape, alias?: string): Plan {
    switch (type.kind) {
      case 'string':
        return new StringPlan();
      case 'int':
        return new IntPlan();
      case 'float':
        return new FloatPlan();
      case 'bool':
        return new BoolPlan();
      case 'null':
        return new NullPlan();
      case 'media':
        return new MediaPlan(type.media);
      case 'literal':
        return literalPlan(type.value);
      case 'class':
        return this.#class(type.name);
      case 'enum':
        return this.#enum(type.name);
      case 'alias':
        return this.#alias(type.name);
      case 'list':
        return new ListPlan(this.#member(type.element), alias);
      case 'map':
        return new MapPlan(this.#keys(type.key), this.#member(type.value), alias);
      case 'union':
        return this.#union(type.members, alias);
    }
  }

  #member(type: Type): () => Plan {
    let plan: Plan | undefined;
    const member = (): Plan => (plan ??= this.#plan(type));
    this.#members.push(member);
    return member;
  }

  /** Returns the keys of a map; undefined if any string can be a key. */
  #keys(type: Type): LabelMatcher | undefined {
    return type.kind === 'string' ? undefined : new LabelMatcher(this.#keySets(type));
  }

  /** Returns the labels of all keys. The real name of an enum value is a key, even if the value has an alias. */
  #keySets(type: Type): readonly LabelSet[] {
    if (type.kind === 'union') return type.members.flatMap((member) => this.#keySets(member));
    if (type.kind === 'literal')
      return [new LabelSet([{ text: String(type.value), json: JSON.stringify(type.value) }])];
    if (type.kind !== 'enum') return [];
    const { name } = type;
    return [
      sharedSet(this.#labels.keys, name, () => {
        const values = this.#valuesOf(name);
        const names = values.map((value) => ({ text: value.name, json: JSON.stringify(value.name) }));
        return [...values.flatMap(enumLabels), ...names];
      }),
    ];
  }

  /** Returns the labels of an enum, of which all plans share one set: a class of 250 fields can name an enum of 250 values in each. */
  #enumSet(name: string): LabelSet {
    return sharedSet(this.#labels.values, name, () => this.#valuesOf(name).flatMap(enumLabels));
  }

  #valuesOf(name: string): EnumType['values'] {
    return this.#enumType(name).values.filter((value) => !value.skip);
  }

  #union(types: readonly Type[], alias: string | undefined): Plan {
    const members = types.filter((type) => type.kind !== 'null' || type.constraints !== undefined);
    const choices = members.map((member) => this.#choiceOf(member));
    const first = choices.findIndex((choice) => choice !== undefined);
    const plans = members.flatMap((member, index) => {
      if (choices[index] === undefined) return [this.#plan(member)];
      return index === first ? [choicePlan(choices.filter((choice) => choice !== undefined))] : [];
    });
    return new UnionPlan(plans, members.length < types.length, alias);
  }

  /** Returns an enum or a string literal without attributes; undefined for other types. */
  #choiceOf(type: Type): Choice | undefined {
    if (type.constraints !== undefined || type.stream !== undefined) return undefined;
    if (type.kind === 'literal') return typeof type.value === 'string' ? literalChoice(type.value) : undefined;
    if (type.kind !== 'enum') return undefined;
    const { constraints } = this.#enumType(type.name);
    if (constraints !== undefined && constraints.length > 0) return undefined;
    return { name: type.name, labels: this.#enumSet(type.name) };
  }

  // --- attributes ----------------------------------------------------------------------------------------------------

  /** The attributes in the definition of a class, enum or alias come before those of the place where it is used. */
  #attributes(type: Type): TypeAttributes {
    const declared = this.#declared(type);
    return {
      constraints: [...declared.constraints, ...(type.constraints ?? [])],
      done: type.stream?.done === true || declared.done,
      withState: type.stream?.withState === true || declared.withState,
    };
  }

  #declared(type: TypeShape): TypeAttributes {
    if (type.kind === 'alias') return this.#attributes(this.#aliasTarget(type.name));
    if (type.kind === 'class') {
      const named = this.#definitions.classes.get(type.name);
      return { ...NO_ATTRIBUTES, constraints: named?.constraints ?? [], done: named?.streamDone === true };
    }
    if (type.kind !== 'enum') return NO_ATTRIBUTES;
    return { ...NO_ATTRIBUTES, constraints: this.#definitions.enums.get(type.name)?.constraints ?? [] };
  }

  // --- definitions ---------------------------------------------------------------------------------------------------

  #class(name: string): Plan {
    const known = this.#named.get(name);
    if (known !== undefined) return asShared(known);
    const type = this.#definitions.classes.get(name);
    invariant(type !== undefined, `class ${name} is not defined`);
    const plan = new ClassPlan(name);
    this.#named.set(name, plan);
    plan.setFields(type.fields.map((field, position) => this.#field(field, position)));
    return plan;
  }

  #field(field: FieldType, position: number): FieldPlan {
    const key = field.alias ?? field.name;
    return {
      name: field.name,
      position,
      jsonKey: `${JSON.stringify(field.name)}:`,
      nextJsonKey: `,${JSON.stringify(field.name)}:`,
      key,
      writtenKey: `${JSON.stringify(key)}:`,
      plan: this.#plan(field.type),
      skip: field.skip,
      streamNotNull: field.streamNotNull,
      missing: coercionError(`the required field "${key}" is missing`, field.name),
    };
  }

  #enum(name: string): Plan {
    return shared(this.#named, name, () => new LabelPlan(name, [this.#enumSet(name)]));
  }

  #enumType(name: string): EnumType {
    const type = this.#definitions.enums.get(name);
    invariant(type !== undefined, `enum ${name} is not defined`);
    return type;
  }

  /** Compiles the target of an alias without its attributes, which each use adds to its own in a single wrapper. */
  #alias(name: string): Plan {
    return shared(this.#named, name, () => this.#shape(this.#aliasTarget(name), name));
  }

  #aliasTarget(name: string): Type {
    const alias = this.#definitions.aliases.get(name);
    invariant(alias !== undefined, `alias ${name} is not defined`);
    return alias.type;
  }
}

/** Returns the plan under the key, after compiling it on the first call. */
function shared(plans: Map<string, Plan>, key: string, compile: () => Plan): Plan {
  const known = plans.get(key);
  if (known !== undefined) return asShared(known);
  const plan = compile();
  const compiledMeanwhile = plans.get(key); // A class inside the type can contain the type.
  if (compiledMeanwhile !== undefined) return asShared(compiledMeanwhile);
  plans.set(key, plan);
  return plan;
}

function asShared(plan: Plan): Plan {
  plan.isShared = true;
  return plan;
}

/** The attributes next to a type. */
interface TypeAttributes {
  readonly constraints: readonly Constraint[];
  readonly done: boolean;
  readonly withState: boolean;
}

const NO_ATTRIBUTES: TypeAttributes = { constraints: [], done: false, withState: false };

/** Returns the name in the prompt first, then the description, alone and after the name. */
function enumLabels(value: EnumType['values'][number]): Label[] {
  const json = JSON.stringify(value.name);
  const name = value.alias ?? value.name;
  const labels = [{ text: name, json }];
  if (value.description !== undefined && value.description.trim() !== '') {
    const description = value.description.trim();
    labels.push({ text: description, json }, { text: `${name}: ${description}`, json });
  }
  return labels;
}

function literalPlan(value: string | number | boolean): Plan {
  if (typeof value === 'number') return new LiteralPlan(value, new IntPlan());
  if (typeof value === 'boolean') return new LiteralPlan(value, new BoolPlan());
  return choicePlan([literalChoice(value)]);
}

function sharedSet(sets: Map<string, LabelSet>, name: string, labels: () => readonly Label[]): LabelSet {
  const set = sets.get(name) ?? new LabelSet(labels());
  sets.set(name, set);
  return set;
}

/** An enum or a literal, with its labels. */
interface Choice {
  /** The values in words. */
  readonly name: string;
  readonly labels: LabelSet | Label;
}

function literalChoice(value: string): Choice {
  const json = JSON.stringify(value);
  return { name: json, labels: { text: value, json } };
}

/** One plan for all enums and string literals of a union, since a label can contain another: "Not guilty" is not `"guilty"`. */
function choicePlan(choices: readonly Choice[]): Plan {
  const name = choices.map((choice) => choice.name).join(' or ');
  const literals = choices.flatMap(({ labels }) => (labels instanceof LabelSet ? [] : labels));
  const enums = new Set(choices.flatMap(({ labels }) => (labels instanceof LabelSet ? labels : [])));
  return new LabelPlan(name, [...enums, ...(literals.length > 0 ? [new LabelSet(literals)] : [])]);
}
