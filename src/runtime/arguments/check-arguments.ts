import { isJsonObject, ownValue } from '../../base/json.ts';
import { pathStep, pathText, type ValuePath } from '../../base/value-path.ts';
import type { Condition, Constraint } from '../../schema/constraint.ts';
import {
  type CompileCondition,
  type DefinitionIndex,
  indexDefinitions,
  type FunctionType,
  type Definitions,
} from '../../schema/program.ts';
import { possibleMembers } from '../../schema/possible-members.ts';
import { namesIn, partsOf, reachedFrom, withInside } from '../../schema/type-graph.ts';
import type { FitsType, Type, UnionType } from '../../schema/type.ts';
import type { Violation } from '../../schema/violation.ts';
import { explainArguments, MAX_VALUE_DEPTH } from './explain-arguments.ts';
import type { ArgumentValidators, FunctionValidators } from './load-validators.ts';

/** Every violation of a function's signature by an argument object; empty when it fits. Never throws for any data. */
export type ArgumentChecker = (fn: FunctionType, args: Readonly<Record<string, unknown>>) => readonly Violation[];

/** The validator decides, so a refusal that the walk could not explain is a refusal too. */
const REFUSED: readonly Violation[] = [{ path: '', message: 'the arguments do not fit the signature' }];

/**
 * Creates the argument checker of a program. The compiled validator of the function decides; only after a no, a walk finds
 * the violations and words them. Arguments that fit are checked against their asserts. The options key is not checked.
 */
export function createArgumentChecker(
  definitions: Definitions,
  validators: Pick<ArgumentValidators, 'of'>,
  compileCondition: CompileCondition,
): ArgumentChecker {
  const index = indexDefinitions(definitions);
  const asserts = new ArgumentAsserts(index, compileCondition);
  return (fn, args) => {
    const ofFunction = validators.of(fn.name);
    if (ofFunction.accepts(args)) return asserts.violations(fn, args, ofFunction);
    const violations = explainArguments(fn, args, { index, fits: ofFunction.createFits() });
    return violations.length > 0 ? violations : REFUSED;
  };
}

// --- asserts ---------------------------------------------------------------------------------------------------------

/** Checks the `@assert` constraints of parameters. A function without any costs nothing. One per program and worker. */
class ArgumentAsserts {
  readonly #index: DefinitionIndex;
  readonly #compileCondition: CompileCondition;
  readonly #asserted = new Map<FunctionType, boolean>();
  readonly #conditions = new Map<Constraint, Condition>();

  constructor(index: DefinitionIndex, compileCondition: CompileCondition) {
    this.#index = index;
    this.#compileCondition = compileCondition;
  }

  /** The asserts that arguments which fit the signature violate; empty when all hold. Null violates none. */
  violations(
    fn: FunctionType,
    args: Readonly<Record<string, unknown>>,
    validators: FunctionValidators,
  ): readonly Violation[] {
    let asserted = this.#asserted.get(fn);
    if (asserted === undefined) this.#asserted.set(fn, (asserted = reachesAssert(fn, this.#index)));
    if (!asserted) return NO_VIOLATIONS;
    const walk = new AssertWalk(this.#index, validators.createFits(), (constraint, type, value) =>
      this.#evaluate(constraint, type, value),
    );
    for (const { name, type } of fn.parameters) walk.explain(type, ownValue(args, name), pathStep(undefined, name));
    return walk.violations;
  }

  /** Undefined when the constraint holds, else the message. */
  #evaluate(constraint: Constraint, type: Type, value: unknown): string | undefined {
    let condition = this.#conditions.get(constraint);
    if (condition === undefined) {
      this.#conditions.set(
        constraint,
        (condition = this.#compileCondition(constraint.expression, { type, definitions: this.#index })),
      );
    }
    const result = condition(value);
    if (result.ok && result.value) return undefined;
    const label = constraint.label === undefined ? '' : ` ${constraint.label}`;
    return `the assert${label} failed: ${constraint.source}${result.ok ? '' : ` (${result.failure})`}`;
  }
}

type Evaluate = (constraint: Constraint, type: Type, value: unknown) => string | undefined;

const NO_VIOLATIONS: readonly Violation[] = [];

/** Enough to see the mistake; a long list can violate the same assert a million times. */
const MAX_VIOLATIONS = 100;

class AssertWalk {
  readonly violations: Violation[] = [];
  readonly #index: DefinitionIndex;
  readonly #evaluate: Evaluate;
  readonly #fits: FitsType;
  readonly #known = new Map<Type, Map<object, boolean>>();

  constructor(index: DefinitionIndex, fits: FitsType, evaluate: Evaluate) {
    this.#index = index;
    this.#fits = fits;
    this.#evaluate = evaluate;
  }

  /** Lists the asserts that fail; descends only into parts in which one fails. */
  explain(type: Type, value: unknown, path: ValuePath): void {
    if (this.violations.length >= MAX_VIOLATIONS || this.#holds(type, value, path.depth)) return;
    if (path.depth > MAX_VALUE_DEPTH) {
      this.violations.push({ path: pathText(path), message: `nested deeper than ${MAX_VALUE_DEPTH} levels` });
      return;
    }
    for (const constraint of this.#constraints(type)) {
      const message = this.#evaluate(constraint, type, value);
      if (message !== undefined) this.violations.push({ path: pathText(path), message });
    }
    for (const part of this.#parts(type, value).slice(0, type.kind === 'union' ? 1 : undefined)) {
      this.explain(part.type, part.value, part.step === undefined ? path : pathStep(path, part.step));
    }
  }

  /** Remembers its answer for each pair of type and object: recursive unions would cost exponential time. */
  #holds(type: Type, value: unknown, depth: number): boolean {
    if (value === null || value === undefined) return true;
    if (typeof value !== 'object') return this.#holdsNow(type, value, depth);
    let known = this.#known.get(type);
    if (known === undefined) this.#known.set(type, (known = new Map()));
    const before = known.get(value);
    if (before !== undefined) return before;
    const answer = this.#holdsNow(type, value, depth);
    known.set(value, answer);
    return answer;
  }

  #holdsNow(type: Type, value: unknown, depth: number): boolean {
    if (depth > MAX_VALUE_DEPTH) return false;
    if (this.#constraints(type).some((constraint) => this.#evaluate(constraint, type, value) !== undefined))
      return false;
    const parts = this.#parts(type, value);
    const holds = (part: Part): boolean =>
      this.#holds(part.type, part.value, part.step === undefined ? depth : depth + 1);
    return type.kind === 'union' ? parts.some(holds) : parts.every(holds);
  }

  #constraints(type: Type): readonly Constraint[] {
    const all = [...(type.constraints ?? [])];
    if (type.kind === 'class') all.push(...(this.#index.classes.get(type.name)?.constraints ?? []));
    if (type.kind === 'enum') all.push(...(this.#index.enums.get(type.name)?.constraints ?? []));
    return all.filter((constraint) => constraint.level === 'assert');
  }

  /** The parts of a value with their types; for a union, the value itself as each member that it fits. */
  #parts(type: Type, value: unknown): readonly Part[] {
    if (type.kind === 'list' && Array.isArray(value)) {
      return value.map((item, step) => ({ type: type.element, value: item, step }));
    }
    if (type.kind === 'map' && isJsonObject(value)) {
      return Object.keys(value).map((step) => ({ type: type.value, value: value[step], step }));
    }
    if (type.kind === 'class' && isJsonObject(value)) {
      const fields = this.#index.classes.get(type.name)?.fields ?? [];
      return fields.map((field) => ({ type: field.type, value: ownValue(value, field.name), step: field.name }));
    }
    if (type.kind === 'union') {
      return this.#fitting(type, value).map((one) => ({ type: one, value }));
    }
    const target = type.kind === 'alias' ? this.#index.aliases.get(type.name)?.type : undefined;
    return target === undefined ? [] : [{ type: target, value }];
  }

  /** The members that the value fits. It fits the union, so it fits the only possible member. */
  #fitting(union: UnionType, value: unknown): readonly Type[] {
    const possible = possibleMembers(union, value, this.#index);
    return possible.length === 1 ? possible : possible.filter((one) => this.#fits(one, value));
  }
}

interface Part {
  readonly type: Type;
  readonly value: unknown;
  /** Absent for the same value. */
  readonly step?: string | number;
}

function reachesAssert(fn: FunctionType, index: DefinitionIndex): boolean {
  const own = fn.parameters.map((parameter) => parameter.type);
  const names = [...reachedFrom(own.flatMap(namesIn), index)];
  const types = [...own, ...names.flatMap((name) => partsOf(name, index))].flatMap(withInside);
  const named = names.map((name) => index.classes.get(name) ?? index.enums.get(name));
  return [...types, ...named].some((one) => one?.constraints?.some((each) => each.level === 'assert') === true);
}
