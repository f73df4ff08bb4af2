import type { Statement } from '../../../schema/template.ts';
import { TemplateFault } from '../template-fault.ts';
import { itemsOf } from '../values/access-value.ts';
import { valuesEqual } from '../values/compare-values.ts';
import type { PromptOutput } from '../values/output.ts';
import { type CallArguments, isTrue, Special, type Value } from '../values/value.ts';
import type { Work } from '../values/work.ts';
import { compileExpression } from './compile-expression.ts';
import { type Assign, compileTarget } from './compile-target.ts';
import { capture, type Evaluate, type Execute, type Frame, UNSET } from '../rendering.ts';
import type { SlotScope } from './slot-scope.ts';

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

/** Compiles a `for`: the iterable is evaluated in the outer scope, the rest in a scope of the loop. */
export function compileLoop(
  statement: ForStatement,
  scope: SlotScope,
  compileBody: (body: readonly Statement[], scope: SlotScope) => Execute,
): Execute {
  const iterable = compileExpression(statement.iterable, scope);
  const inner = scope.block();
  const assign = compileTarget(statement.target, inner, 'declare');
  const loop: CompiledLoop = {
    assign,
    filter: statement.filter && compileExpression(statement.filter, inner),
    loopSlot: inner.declare('loop'),
    setSlots: inner.declareAssigned(statement.body),
    body: compileBody(statement.body, inner),
    otherwise: compileBody(statement.otherwise, scope.block()),
    recursive: statement.recursive,
    start: statement.iterable.start,
  };
  return (frame) => runLoop(loop, iterable(frame), { frame, depth: 0 });
}

interface Activation {
  readonly frame: Frame;
  readonly depth: number;
}

function runLoop(loop: CompiledLoop, iterable: Value, { frame, depth }: Activation): void {
  const { rendering, slots } = frame;
  rendering.at = loop.start;
  const items = selectItems(loop, itemsOf(iterable, rendering), frame);
  if (items.length === 0) return loop.otherwise(frame);
  const recurse = loop.recursive ? (next: Value) => runAgain(loop, next, { frame, depth: depth + 1 }) : undefined;
  const value = new LoopValue(items, depth, recurse);
  for (const slot of loop.setSlots) slots[slot] = UNSET;
  for (let index = 0; index < items.length; index += 1) {
    rendering.spend(1);
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
    frame.rendering.spend(1);
    loop.assign(frame, item);
    return isTrue(filter(frame), frame.rendering);
  });
}

/** Runs the body inside itself, then restores the variables of the outer round. */
function runAgain(loop: CompiledLoop, items: Value, activation: Activation): Value {
  const { frame } = activation;
  const saved = [...frame.slots];
  frame.rendering.enterCall();
  const text = capture(frame, () => runLoop(loop, items, activation));
  frame.rendering.leaveCall();
  for (const [slot, value] of saved.entries()) frame.slots[slot] = value;
  return text;
}

/** `loop` in the body of a `for`. One object serves the whole loop; `index` moves on. */
class LoopValue extends Special {
  readonly kindName = 'loop';
  readonly #items: readonly Value[];
  readonly #depth: number;
  readonly #recurse: ((items: Value) => Value) | undefined;
  #changed: readonly Value[] | undefined;
  index = 0;

  constructor(items: readonly Value[], depth: number, recurse: ((items: Value) => Value) | undefined) {
    super();
    this.#items = items;
    this.#depth = depth;
    this.#recurse = recurse;
  }

  override attribute(name: string): Value {
    const { index } = this;
    const { length } = this.#items;
    switch (name) {
      case 'index':
        return index + 1;
      case 'index0':
        return index;
      case 'revindex':
        return length - index;
      case 'revindex0':
        return length - index - 1;
      case 'first':
        return index === 0;
      case 'last':
        return index === length - 1;
      case 'length':
        return length;
      case 'depth':
        return this.#depth + 1;
      case 'depth0':
        return this.#depth;
      case 'previtem':
        return this.#items[index - 1];
      case 'nextitem':
        return this.#items[index + 1];
      default:
        return undefined;
    }
  }

  override callMethod(name: string, { positional }: CallArguments, work: Work): Value {
    if (name === 'cycle') return positional[this.index % Math.max(1, positional.length)];
    if (name !== 'changed') throw new TemplateFault(`loop has no method "${name}"`);
    const before = this.#changed;
    this.#changed = positional;
    return before === undefined || !valuesEqual(before, positional, work);
  }

  /** `loop(items)` runs the body of a recursive loop again. */
  override call({ positional }: CallArguments): Value {
    if (this.#recurse === undefined) throw new TemplateFault('the loop is not "recursive"');
    return this.#recurse(positional[0]);
  }

  override print(out: PromptOutput): void {
    out.write(`<loop ${this.index}/${this.#items.length}>`);
  }
}
