import { err, ok } from '../../base/result.ts';
import type { Condition } from '../../schema/constraint.ts';
import { isFunctionName } from '../../schema/template-vocabulary.ts';
import type { Expression } from '../../schema/template.ts';
import { TEMPLATE_FUNCTIONS } from './builtins/functions.ts';
import { compileExpression } from './compile/compile-expression.ts';
import { SlotScope } from './compile/slot-scope.ts';
import { type Evaluate, Frame, Rendering, UNSET } from './rendering.ts';
import { templateReason } from './template-fault.ts';
import { isTrue, type Value } from './values/value.ts';

/** Compiles the condition of an `@assert` or `@check`. The value is JSON data and its name is `this`. */
export function compileCondition(expression: Expression): Condition {
  const scope = SlotScope.root(resolveFunction);
  const slot = scope.declare('this');
  const evaluate = compileExpression(expression, scope);
  const slotCount = scope.slotCount;
  return (self) => {
    const slots = Array.from<Value>({ length: slotCount }).fill(UNSET);
    slots[slot] = self as Value;
    const rendering = new Rendering('', nothing);
    try {
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
