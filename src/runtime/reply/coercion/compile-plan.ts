import type { CompileCondition, Constraint } from '../../../schema/constraint.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { EnumType, FieldType, Type, TypeShape } from '../../../schema/type.ts';
import { invariant } from '../../../base/invariant.ts';
import { AliasPlan } from './alias-plan.ts';
import { AttributePlan, type RunnableConstraint } from './attribute-plan.ts';
import { ClassPlan } from './class-plan.ts';
import type { FieldPlan } from './field-plan.ts';
import { ListPlan } from './list-plan.ts';
import { Misfit } from './outcome.ts';
import { MapPlan } from './map-plan.ts';
import type { Label } from './match-text.ts';
import type { Plan } from './plan.ts';
import {
  BoolPlan,
  FloatPlan,
  IntPlan,
  LabelPlan,
  LiteralPlan,
  MediaPlan,
  NullPlan,
  StringPlan,
} from './scalar-plans.ts';
import { UnionPlan } from './union-plan.ts';

/** The plan by which values of `type` are made. */
export function compilePlan(type: Type, definitions: DefinitionIndex, compileCondition: CompileCondition): Plan {
  return new PlanCompiler(definitions, compileCondition).plan(type);
}

/** Compiles each class, enum and alias once, so that recursive types refer to themselves. */
class PlanCompiler {
  readonly #definitions: DefinitionIndex;
  readonly #compileCondition: CompileCondition;
  readonly #classes = new Map<string, Plan>();
  readonly #enums = new Map<string, Plan>();
  readonly #aliases = new Map<string, AliasPlan>();

  constructor(definitions: DefinitionIndex, compileCondition: CompileCondition) {
    this.#definitions = definitions;
    this.#compileCondition = compileCondition;
  }

  plan(type: Type): Plan {
    const said = this.#attributes(type);
    const attributes = { ...said, constraints: this.#runnable(said.constraints) };
    const inner = this.#shape(type);
    const plain = attributes.constraints.length === 0 && !attributes.done && !attributes.withState;
    return plain ? inner : new AttributePlan(inner, attributes);
  }

  #runnable(constraints: readonly Constraint[]): readonly RunnableConstraint[] {
    return constraints.map((constraint) => ({
      ...constraint,
      condition: this.#compileCondition(constraint.expression),
    }));
  }

  /** What the definitions of a class, enum or alias say of its values comes before what is said where it is used. */
  #attributes(type: Type): SaidAttributes {
    const declared = this.#declared(type);
    return {
      constraints: [...declared.constraints, ...(type.constraints ?? [])],
      done: type.stream?.done === true || declared.done,
      withState: type.stream?.withState === true || declared.withState,
    };
  }

  #declared(type: TypeShape): SaidAttributes {
    if (type.kind === 'alias') return this.#attributes(this.#aliasTarget(type.name));
    if (type.kind === 'class') {
      const named = this.#definitions.classes.get(type.name);
      return { ...NOTHING_SAID, constraints: named?.constraints ?? [], done: named?.streamDone === true };
    }
    if (type.kind !== 'enum') return NOTHING_SAID;
    return { ...NOTHING_SAID, constraints: this.#definitions.enums.get(type.name)?.constraints ?? [] };
  }

  #aliasTarget(name: string): Type {
    const type = this.#definitions.aliases.get(name);
    invariant(type !== undefined, `alias ${name} is not defined`);
    return type.type;
  }

  #shape(type: TypeShape): Plan {
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
        return new ListPlan(this.plan(type.element));
      case 'map':
        return new MapPlan(this.plan(type.key), this.plan(type.value));
      case 'union':
        return this.#union(type.members);
    }
  }

  #union(types: readonly Type[]): Plan {
    const members = types.filter((type) => type.kind !== 'null' || type.constraints !== undefined);
    return new UnionPlan(
      members.map((member) => this.plan(member)),
      members.length < types.length,
    );
  }

  #class(name: string): Plan {
    const known = this.#classes.get(name);
    if (known !== undefined) return known;
    const type = this.#definitions.classes.get(name);
    invariant(type !== undefined, `class ${name} is not defined`);
    const plan = new ClassPlan(name);
    this.#classes.set(name, plan);
    plan.setFields(type.fields.map((field) => this.#field(field)));
    return plan;
  }

  #field(field: FieldType): FieldPlan {
    const key = field.alias ?? field.name;
    return {
      name: field.name,
      jsonKey: `${JSON.stringify(field.name)}:`,
      nextJsonKey: `,${JSON.stringify(field.name)}:`,
      key,
      writtenKey: `${JSON.stringify(key)}:`,
      plan: this.plan(field.type),
      skip: field.skip,
      streamNotNull: field.streamNotNull,
      missing: new Misfit([{ path: field.name, message: `the required field "${key}" is missing` }]),
    };
  }

  #enum(name: string): Plan {
    const known = this.#enums.get(name);
    if (known !== undefined) return known;
    const type = this.#definitions.enums.get(name);
    invariant(type !== undefined, `enum ${name} is not defined`);
    const plan = enumPlan(type);
    this.#enums.set(name, plan);
    return plan;
  }

  #alias(name: string): Plan {
    const known = this.#aliases.get(name);
    if (known !== undefined) return known;
    const plan = new AliasPlan(name);
    this.#aliases.set(name, plan);
    // Without attributes: each use adds those of the alias to its own, in one wrapper.
    plan.setTarget(this.#shape(this.#aliasTarget(name)));
    return plan;
  }
}

/** What is written beside a type. */
interface SaidAttributes {
  readonly constraints: readonly Constraint[];
  readonly done: boolean;
  readonly withState: boolean;
}

const NOTHING_SAID: SaidAttributes = { constraints: [], done: false, withState: false };

function enumPlan(type: EnumType): LabelPlan {
  const labels = type.values.filter((value) => !value.skip).flatMap(enumLabels);
  return new LabelPlan(type.name, labels);
}

/** The name in the prompt first, then the description, alone and after the name. */
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
  if (typeof value !== 'string') return new LiteralPlan(value);
  const json = JSON.stringify(value);
  return new LabelPlan(json, [{ text: value, json }]);
}
