import type { Arguments, Expression, FilterCall } from '../../../schema/template.ts';
import { FILTERS, isFilterName, isTestName, TESTS } from '../../../schema/template-vocabulary.ts';
import { FILTER_FUNCTIONS, filterWork } from '../builtins/filters.ts';
import { callMethod } from '../builtins/methods.ts';
import { TEST_FUNCTIONS } from '../builtins/functions.ts';
import { TemplateFault } from '../values/work.ts';
import type { Evaluate, Frame } from '../rendering.ts';
import { itemOf, readAttribute, sizeOf, sliceOf } from '../values/access-value.ts';
import { negate, OPERATIONS } from '../values/operators.ts';
import { floatOf, isTrue, kindOf, Special, type Value } from '../values/value.ts';
import { compileArguments, NO_ARGUMENTS, orderArguments } from './bind-arguments.ts';
import type { SlotScope } from './slot-scope.ts';

/** Compiles an expression to a closure. */
export function compileExpression(expression: Expression, scope: SlotScope): Evaluate {
  const { start } = expression;
  switch (expression.kind) {
    case 'string':
    case 'integer':
    case 'boolean':
      return constant(expression.value);
    case 'float':
      return constant(floatOf(expression.value));
    case 'none':
      return constant(null);
    case 'name':
      return scope.resolve(expression.name);
    case 'list':
      return compileList(expression.items, scope);
    case 'map':
      return compileMap(expression.entries, scope);
    case 'unary':
      return compileUnary(expression, scope);
    case 'binary':
      return compileBinary(expression, scope);
    case 'conditional':
      return compileConditional(expression, scope);
    case 'attribute':
      return compileAttribute(expression, scope);
    case 'index':
      return compileIndex(expression, scope);
    case 'slice':
      return compileSlice(expression, scope);
    case 'call':
      return compileCall(expression, scope);
    case 'filter':
      return compileFilter(compileExpression(expression.input, scope), expression.filter, scope);
    case 'test':
      return compileTest({ ...expression, start }, scope);
  }
}

type Of<K extends Expression['kind']> = Extract<Expression, { readonly kind: K }>;

function constant(value: Value): Evaluate {
  return () => value;
}

function compileList(items: readonly Expression[], scope: SlotScope): Evaluate {
  const evaluate = items.map((item) => compileExpression(item, scope));
  return (frame) => evaluate.map((item) => item(frame));
}

function compileMap(entries: Of<'map'>['entries'], scope: SlotScope): Evaluate {
  const compiled = entries.map((entry) => ({
    key: compileExpression(entry.key, scope),
    value: compileExpression(entry.value, scope),
  }));
  return (frame) => new Map(compiled.map((entry) => [entry.key(frame), entry.value(frame)]));
}

function compileUnary({ operator, operand, start }: Of<'unary'>, scope: SlotScope): Evaluate {
  const evaluate = compileExpression(operand, scope);
  if (operator === 'not') return (frame) => !isTrue(evaluate(frame), frame.rendering);
  return (frame) => {
    const value = evaluate(frame);
    frame.rendering.at = start;
    return operator === '-' ? negate(value) : negate(negate(value));
  };
}

function compileBinary({ operator, left, right, start }: Of<'binary'>, scope: SlotScope): Evaluate {
  const a = compileExpression(left, scope);
  const b = compileExpression(right, scope);
  if (operator === 'and') {
    return (frame) => {
      const value = a(frame);
      return isTrue(value, frame.rendering) ? b(frame) : value;
    };
  }
  if (operator === 'or') {
    return (frame) => {
      const value = a(frame);
      return isTrue(value, frame.rendering) ? value : b(frame);
    };
  }
  const apply = OPERATIONS[operator];
  return (frame) => {
    const first = a(frame);
    const second = b(frame);
    const { rendering } = frame;
    rendering.at = start;
    rendering.spend(1);
    return apply(first, second, rendering);
  };
}

function compileConditional({ condition, value, otherwise }: Of<'conditional'>, scope: SlotScope): Evaluate {
  const test = compileExpression(condition, scope);
  const then = compileExpression(value, scope);
  const other = otherwise === undefined ? constant(undefined) : compileExpression(otherwise, scope);
  return (frame) => (isTrue(test(frame), frame.rendering) ? then(frame) : other(frame));
}

function compileAttribute({ object, name, start }: Of<'attribute'>, scope: SlotScope): Evaluate {
  const evaluate = compileExpression(object, scope);
  return (frame) => {
    const value = evaluate(frame);
    frame.rendering.at = start;
    return readAttribute(value, name);
  };
}

function compileIndex({ object, index, start }: Of<'index'>, scope: SlotScope): Evaluate {
  const evaluate = compileExpression(object, scope);
  const evaluateIndex = compileExpression(index, scope);
  return (frame) => {
    const value = evaluate(frame);
    const key = evaluateIndex(frame);
    frame.rendering.at = start;
    if (typeof value === 'string') frame.rendering.spend(value.length >> 3);
    return itemOf(value, key, frame.rendering);
  };
}

function compileSlice({ object, from, to, step, start }: Of<'slice'>, scope: SlotScope): Evaluate {
  const evaluate = compileExpression(object, scope);
  const bounds = [from, to, step].map((part) => (part ? compileExpression(part, scope) : constant(undefined)));
  return (frame) => {
    const value = evaluate(frame);
    const [first, last, stride] = bounds.map((bound) => bound(frame));
    frame.rendering.at = start;
    frame.rendering.spend(sizeOf(value, frame.rendering) >> 7);
    return sliceOf(value, { from: first, to: last, step: stride }, frame.rendering);
  };
}

function compileCall({ callee, args, start }: Of<'call'>, scope: SlotScope): Evaluate {
  if (callee.kind === 'attribute') return compileMethodCall(callee, args, scope);
  const evaluate = compileExpression(callee, scope);
  const evaluateArguments = compileArguments(args, (expression) => compileExpression(expression, scope));
  const name = callee.kind === 'name' ? `"${callee.name}"` : 'this value';
  return (frame) => {
    const value = evaluate(frame);
    const given = evaluateArguments(frame);
    frame.rendering.at = start;
    frame.rendering.spend(1);
    if (value instanceof Special) return value.call(given, frame.rendering);
    throw new TemplateFault(value === undefined ? `there is no function ${name}` : `${name} cannot be called`);
  };
}

/** Compiles `object.name(…)`: a method of the kind of value, or an attribute that can be called. */
function compileMethodCall({ object, name, start }: Of<'attribute'>, args: Arguments, scope: SlotScope): Evaluate {
  const evaluate = compileExpression(object, scope);
  const evaluateArguments = compileArguments(args, (expression) => compileExpression(expression, scope));
  return (frame) => {
    const value = evaluate(frame);
    const given = evaluateArguments(frame);
    frame.rendering.at = start;
    // `get` reads one entry of a map.
    frame.rendering.spend(name === 'get' ? 1 : 1 + (sizeOf(value, frame.rendering) >> 7));
    return callMethod(value, { name, args: given }, frame.rendering);
  };
}

/** Compiles a filter on the value of another closure; `set` and `filter` blocks have filters too. */
export function compileFilter(input: Evaluate, filter: FilterCall, scope: SlotScope): Evaluate {
  const { name, start } = filter;
  if (!isFilterName(name)) return failing(`there is no filter "${name}"`, start);
  const apply = FILTER_FUNCTIONS[name];
  const evaluateArguments = compileOrdered(filter.args, FILTERS[name], scope);
  return (frame) => {
    const value = input(frame);
    const { rendering } = frame;
    const args = evaluateArguments(frame, start);
    rendering.at = start;
    rendering.spend(filterWork(name, value, rendering));
    try {
      return apply(value, args, rendering);
    } catch (error) {
      throw describe(error, `filter "${name}"`, value);
    }
  };
}

function compileTest({ input, name, negated, args, start }: Of<'test'>, scope: SlotScope): Evaluate {
  const evaluate = compileExpression(input, scope);
  if (name === 'defined') return (frame) => (evaluate(frame) !== undefined) !== negated;
  if (!isTestName(name)) return failing(`there is no test "${name}"`, start);
  const apply = TEST_FUNCTIONS[name];
  const evaluateArguments = compileOrdered(args, TESTS[name], scope);
  return (frame) => {
    const value = evaluate(frame);
    const given = evaluateArguments(frame, start);
    frame.rendering.at = start;
    return apply(value, given, frame.rendering) !== negated;
  };
}

/** Compiles arguments that are ordered by the parameters of the vocabulary; no arguments cost nothing. */
function compileOrdered(args: Arguments, parameters: readonly string[], scope: SlotScope) {
  if (args.positional.length === 0 && args.named.length === 0 && parameters.every((name) => name.endsWith('?'))) {
    const none: readonly Value[] = orderArguments(NO_ARGUMENTS, parameters);
    return () => none;
  }
  const evaluate = compileArguments(args, (expression) => compileExpression(expression, scope));
  return (frame: Frame, start: number): readonly Value[] => {
    const given = evaluate(frame);
    frame.rendering.at = start;
    return orderArguments(given, parameters);
  };
}

function failing(message: string, start: number): Evaluate {
  return (frame) => {
    frame.rendering.at = start;
    throw new TemplateFault(message);
  };
}

function describe(error: unknown, where: string, value: Value): unknown {
  return error instanceof TemplateFault && !error.message.includes('filter "')
    ? new TemplateFault(`${where} on ${kindOf(value)}: ${error.message}`)
    : error;
}
