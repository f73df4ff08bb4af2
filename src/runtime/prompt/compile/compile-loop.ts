import type { Expression, Statement } from '../../../schema/template.ts';
import { itemsOf } from '../values/access-value.ts';
import { isTrue, type Value } from '../values/value.ts';
import { type Assign, compileTarget } from './compile-target.ts';
import { compileExpression } from './compile-expression.ts';
import { capture } from './capture.ts';
import { type Evaluate, type Execute, type Frame, UNSET } from './frame.ts';
import { LoopValue } from './loop-value.ts';
import type { Scope } from './scope.ts';

type ForStatement = Extract<Statement, { readonly kind: 'for' }>;

interface CompiledLoop {
  readonly assign: Assign;
  readonly loopSlot: number;
  /** Slots of names that the body sets: unset when the loop begins, kept from round to round. */
  readonly setSlots: readonly number[];
  readonly filter: Evaluate | undefined;
  readonly body: Execute;
  readonly otherwise: Execute;
  readonly recursive: boolean;
  readonly start: number;
}

/** A `for`: the iterable is evaluated outside, the rest in a scope of the loop's own. */
export function compileLoop(
  statement: ForStatement,
  scope: Scope,
  compileBody: (body: readonly Statement[], scope: Scope) => Execute,
): Execute {
  const iterable = compileExpression(statement.iterable, scope);
  const inner = scope.block();
  const assign = compileTarget(statement.target, inner, 'declare');
  const filter = compileCondition(statement.filter, inner);
  const loopSlot = inner.declare('loop');
  const setSlots = inner.declareAssigned(statement.body);
  const loop: CompiledLoop = {
    assign,
    loopSlot,
    setSlots,
    filter,
    body: compileBody(statement.body, inner),
    otherwise: compileBody(statement.otherwise, scope.block()),
    recursive: statement.recursive,
    start: statement.iterable.start,
  };
  return (frame) => runLoop(loop, iterable(frame), { frame, depth: 0 });
}

function compileCondition(filter: Expression | undefined, scope: Scope): Evaluate | undefined {
  return filter === undefined ? undefined : compileExpression(filter, scope);
}

interface Activation {
  readonly frame: Frame;
  readonly depth: number;
}

function runLoop(loop: CompiledLoop, iterable: Value, { frame, depth }: Activation): void {
  const { run, slots } = frame;
  run.at = loop.start;
  const items = selectItems(loop, itemsOf(iterable), frame);
  if (items.length === 0) return loop.otherwise(frame);
  const recurse = loop.recursive ? (next: Value) => runAgain(loop, next, { frame, depth: depth + 1 }) : undefined;
  const value = new LoopValue(items, depth, recurse);
  for (const slot of loop.setSlots) slots[slot] = UNSET;
  for (let index = 0; index < items.length; index += 1) {
    run.charge(1);
    value.index = index;
    slots[loop.loopSlot] = value;
    loop.assign(frame, items[index]);
    loop.body(frame);
  }
}

function selectItems(loop: CompiledLoop, items: readonly Value[], frame: Frame): readonly Value[] {
  const { filter } = loop;
  if (filter === undefined) return items;
  return items.filter((item) => {
    frame.run.charge(1);
    loop.assign(frame, item);
    return isTrue(filter(frame));
  });
}

/** The body inside of itself: the variables of the outer round come back afterwards. */
function runAgain(loop: CompiledLoop, items: Value, activation: Activation): Value {
  const { frame } = activation;
  const saved = [...frame.slots];
  frame.run.enterCall();
  const text = capture(frame, () => runLoop(loop, items, activation));
  frame.run.leaveCall();
  for (const [slot, value] of saved.entries()) frame.slots[slot] = value;
  return text;
}
