import { err, ok } from '../../base/result.ts';
import { isFunctionName } from '../../schema/template-vocabulary.ts';
import type { Expression } from '../../schema/template.ts';
import { compileExpression } from './compile/compile-expression.ts';
import { type Evaluate, Frame, UNSET } from './compile/frame.ts';
import { Scope } from './compile/scope.ts';
import type { Condition } from '../../schema/constraint.ts';
import { reasonOf } from './reason-of.ts';
import { Run } from './run.ts';
import { TEMPLATE_FUNCTIONS } from './template-functions.ts';
import { isTrue, type Value } from './values/value.ts';

/** Makes a condition of an `@assert` or `@check`. The value is JSON data and is called `this`. */
export function compileCondition(expression: Expression): Condition {
  const scope = Scope.root(resolveFunction);
  const slot = scope.declare('this');
  const evaluate = compileExpression(expression, scope);
  const slotCount = scope.slotCount;
  return (self) => {
    const slots = Array.from<Value>({ length: slotCount }).fill(UNSET);
    slots[slot] = self as Value;
    try {
      return ok(isTrue(evaluate(new Frame(slots, new Run('', nothing)))));
    } catch (error) {
      return err(reasonOf(error));
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
