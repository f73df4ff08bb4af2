import { err, ok, type Result } from '../../base/result.ts';
import type { Condition } from '../../schema/constraint.ts';
import type { EnumType } from '../../schema/type.ts';
import { isFunctionName } from '../../schema/template-vocabulary.ts';
import type { Expression } from '../../schema/template.ts';
import { TEMPLATE_FUNCTIONS } from './builtins/functions.ts';
import { compileExpression } from './compile/compile-expression.ts';
import { SlotScope } from './compile/slot-scope.ts';
import { type Evaluate, Frame, Rendering, UNSET } from './rendering.ts';
import { templateReason } from './template-fault.ts';
import { EnumNamespace } from './values/argument-values.ts';
import { isTrue, type Value } from './values/value.ts';

/** Compiles the condition of an `@assert` or `@check`. The value is JSON data and its name is `this`. */
export function compileCondition(expression: Expression): Condition {
  const condition = compileNamed(expression, ['this'], resolveFunction);
  return (self) => condition([self]);
}

/** The work of an evaluation besides its steps, in units of `Work`. */
const EVALUATION = 5;

/** Like `compileCondition`, but calls `charge` with the units of work (see `Work`) before each step. `charge` can throw a TemplateFault. */
export function compileChargedCondition(expression: Expression, charge: (units: number) => void): Condition {
  const condition = compileNamed(expression, ['this'], resolveFunction, () => new ChargedRendering(charge));
  return (self) => condition([self]);
}

class ChargedRendering extends Rendering {
  readonly #charge: (units: number) => void;

  constructor(charge: (units: number) => void) {
    super('', nothing);
    this.#charge = charge;
    charge(EVALUATION);
  }

  override spend(units: number): void {
    this.#charge(units);
    super.spend(units);
  }
}

/** A condition over several names. Takes their values, which are JSON data, in the order of the names. */
export type NamedCondition = (values: readonly unknown[]) => Result<boolean, string>;

/** Compiles the condition of a test, which can read several names, and the enums of the definitions. */
export function compileTestCondition(
  expression: Expression,
  names: readonly string[],
  enums: ReadonlyMap<string, EnumType>,
): NamedCondition {
  return compileNamed(expression, names, (name) => {
    const type = enums.get(name);
    if (type === undefined) return resolveFunction(name);
    const namespace = new EnumNamespace(type);
    return () => namespace;
  });
}

function compileNamed(
  expression: Expression,
  names: readonly string[],
  resolve: (name: string) => Evaluate,
  createRendering = () => new Rendering('', nothing),
): NamedCondition {
  const scope = SlotScope.root(resolve);
  const given = names.map((name) => scope.declare(name));
  const evaluate = compileExpression(expression, scope);
  const slotCount = scope.slotCount;
  return (values) => {
    const slots = Array.from<Value>({ length: slotCount }).fill(UNSET);
    for (let index = 0; index < given.length; index += 1) slots[given[index] ?? 0] = values[index] as Value;
    try {
      const rendering = createRendering();
      return ok(isTrue(evaluate(new Frame(slots, rendering)), rendering));
    } catch (error) {
      return err(templateReason(error));
    }
  };
}

function resolveFunction(name: string): Evaluate {
  const value = isFunctionName(name) ? TEMPLATE_FUNCTIONS[name] : undefined;
  return () => value;
}

function nothing(): Value {
  return undefined;
}
