import { isJsonObject } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Condition } from '../../schema/constraint.ts';
import type { ConstrainedType, DefinitionIndex, FunctionType } from '../../schema/program.ts';
import { isFunctionName } from '../../schema/template-vocabulary.ts';
import type { Expression } from '../../schema/template.ts';
import { TEMPLATE_FUNCTIONS } from './builtins/functions.ts';
import { compileExpression } from './compile/compile-expression.ts';
import { SlotScope } from './compile/slot-scope.ts';
import { type ConvertFloats, declaredFloats } from './convert-argument.ts';
import { type Evaluate, Frame, Rendering, UNSET } from './rendering.ts';
import { templateReason } from './values/work.ts';
import { EnumNamespace } from './values/argument-values.ts';
import { isTrue, type Value } from './values/value.ts';

/** Compiles the condition of an `@assert` or `@check`. The value is JSON data and its name is `this`. */
export function compileCondition(expression: Expression, of: ConstrainedType): Condition {
  const condition = compileNamed(expression, [selfOf(of)], resolveFunction);
  return (self) => condition([self]);
}

function selfOf({ type, definitions }: ConstrainedType): NamedValue {
  return { name: 'this', convert: declaredFloats(definitions).convertTo(type) };
}

/** The work of an evaluation besides its steps, in units of `Work`. */
const EVALUATION = 5;

/** Like `compileCondition`, but calls `charge` with the units of work (see `Work`) before each step. `charge` can throw a TemplateFault. */
export function compileChargedCondition(
  expression: Expression,
  of: ConstrainedType,
  charge: (units: number) => void,
): Condition {
  const condition = compileNamed(expression, [selfOf(of)], resolveFunction, () => new ChargedRendering(charge));
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

/** A name in a condition. */
interface NamedValue {
  readonly name: string;
  readonly convert: ConvertFloats | undefined;
}

/**
 * Compiles the condition of a test of a function. The condition takes the values of the arguments, `this` and `_`, in this
 * order, and can also read the enums of the definitions.
 */
export function compileTestCondition(
  expression: Expression,
  fn: FunctionType,
  definitions: DefinitionIndex,
): NamedCondition {
  const floats = declaredFloats(definitions);
  const result = floats.convertTo(fn.returns);
  const names = [
    ...fn.parameters.map(({ name, type }) => ({ name, convert: floats.convertTo(type) })),
    { name: 'this', convert: result },
    { name: '_', convert: result && withResult(result) },
  ];
  return compileNamed(expression, names, (name) => {
    const type = definitions.enums.get(name);
    if (type === undefined) return resolveFunction(name);
    const namespace = new EnumNamespace(type);
    return () => namespace;
  });
}

function withResult(convert: ConvertFloats): ConvertFloats {
  return (helper, work) => (isJsonObject(helper) ? { ...helper, result: convert(helper['result'], work) } : undefined);
}

function compileNamed(
  expression: Expression,
  names: readonly NamedValue[],
  resolve: (name: string) => Evaluate,
  createRendering = () => new Rendering('', nothing),
): NamedCondition {
  const scope = SlotScope.root(resolve);
  const given = names.map(({ name, convert }) => ({ slot: scope.declare(name), convert }));
  const evaluate = compileExpression(expression, scope);
  const slotCount = scope.slotCount;
  return (values) => {
    const slots = Array.from<Value>({ length: slotCount }).fill(UNSET);
    try {
      const rendering = createRendering();
      for (const [index, { slot, convert }] of given.entries()) {
        const value = values[index];
        slots[slot] = convert === undefined ? (value as Value) : convert(value, rendering);
      }
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
