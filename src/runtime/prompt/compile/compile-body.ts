import type { Expression, FilterCall, Macro, Statement, AssignmentTarget } from '../../../schema/template.ts';
import { TemplateFault, type Work } from '../values/work.ts';
import { capture, type Evaluate, type Execute, Frame, UNSET } from '../rendering.ts';
import { printValue } from '../values/print-value.ts';
import {
  type CallArguments,
  isTrue,
  Special,
  type Value,
  isString,
  kindOf,
  type PromptOutput,
} from '../values/value.ts';
import { compileArguments } from './bind-arguments.ts';
import { compileExpression, compileFilter } from './compile-expression.ts';
import type { SlotScope } from './slot-scope.ts';
import { itemsOf, valuesEqual } from '../values/access-value.ts';
import { Namespace } from '../builtins/functions.ts';

/** Compiles the statements of templates of one file. */
export class BodyCompiler {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  body(statements: readonly Statement[], scope: SlotScope): Execute {
    const steps = statements.map((statement) => this.#statement(statement, scope));
    const [first, second] = steps;
    if (first === undefined) return doNothing;
    if (second === undefined) return first;
    return (frame) => {
      for (let index = 0; index < steps.length; index += 1) steps[index]?.(frame);
    };
  }

  /** Compiles a macro or a template_string, which has its own activation inside `scope`. */
  macro(macro: Macro, scope: SlotScope): CompiledMacro {
    const inner = scope.activation();
    const parameterSlots = macro.parameters.map((parameter) => inner.declare(parameter.name));
    const callerSlot = inner.declare('caller');
    inner.declareAssigned(macro.body);
    const fallbacks = macro.parameters.map(({ fallback }) => fallback && compileExpression(fallback, inner));
    const body = this.body(macro.body, inner);
    return { macro, file: this.#file, parameterSlots, callerSlot, fallbacks, body, slotCount: () => inner.slotCount };
  }

  #statement(statement: Statement, scope: SlotScope): Execute {
    switch (statement.kind) {
      case 'text':
        return writeText(statement.text);
      case 'print':
        return print(compileExpression(statement.expression, scope));
      case 'if':
        return this.#if(statement, scope);
      case 'for':
        return compileLoop(statement, scope, (body, inner) => this.body(body, inner));
      case 'set':
        return set(compileExpression(statement.value, scope), compileTarget(statement.target, scope, 'set'));
      case 'set-block':
        return set(this.#captured(statement, scope), compileTarget(statement.target, scope, 'set'));
      case 'with':
        return this.#with(statement, scope);
      case 'filter-block':
        return print(this.#captured(statement, scope));
      case 'macro':
        return this.#defineMacro(statement.macro, scope);
      case 'call-block':
        return this.#callBlock(statement, scope);
    }
  }

  #if(statement: Extract<Statement, { readonly kind: 'if' }>, scope: SlotScope): Execute {
    const branches = statement.branches.map((branch) => ({
      condition: compileExpression(branch.condition, scope),
      body: this.body(branch.body, scope),
    }));
    const otherwise = this.body(statement.otherwise, scope);
    return (frame) => {
      for (const { condition, body } of branches) {
        if (isTrue(condition(frame), frame.rendering)) return body(frame);
      }
      return otherwise(frame);
    };
  }

  /** Each binding sees those before it. */
  #with(statement: Extract<Statement, { readonly kind: 'with' }>, scope: SlotScope): Execute {
    const inner = scope.block();
    const bindings = statement.bindings.map(({ value, target }) => ({
      evaluate: compileExpression(value, inner),
      assign: compileTarget(target, inner, 'declare'),
    }));
    const setSlots = inner.declareAssigned(statement.body);
    const body = this.body(statement.body, inner);
    return (frame) => {
      for (const { evaluate, assign } of bindings) assign(frame, evaluate(frame));
      for (const slot of setSlots) frame.slots[slot] = UNSET;
      body(frame);
    };
  }

  /** Compiles a block whose text goes through filters. */
  #captured(
    block: { readonly body: readonly Statement[]; readonly filters: readonly FilterCall[] },
    scope: SlotScope,
  ): Evaluate {
    const body = this.body(block.body, scope);
    const text: Evaluate = (frame) => capture(frame, body);
    return block.filters.reduce((input, filter) => compileFilter(input, filter, scope), text);
  }

  #defineMacro(macro: Macro, scope: SlotScope): Execute {
    const slot = scope.slotOf(macro.name);
    const compiled = this.macro(macro, scope);
    return (frame) => {
      frame.slots[slot] = new MacroValue(compiled, frame);
    };
  }

  #callBlock({ call, macro }: Extract<Statement, { readonly kind: 'call-block' }>, scope: SlotScope): Execute {
    const caller = this.macro(macro, scope);
    const evaluate = compileCallWith(call, scope);
    return (frame) => printValue(frame.rendering.out, evaluate(frame, new MacroValue(caller, frame)));
  }
}

/** Compiles a call that has one more named argument: `caller`. */
function compileCallWith(call: Expression, scope: SlotScope): (frame: Frame, caller: Value) => Value {
  if (call.kind !== 'call') return notACall(call.start);
  const callee = compileExpression(call.callee, scope);
  const evaluateArguments = compileArguments(call.args, (expression) => compileExpression(expression, scope));
  return (frame, caller) => {
    const value = callee(frame);
    const { positional, named } = evaluateArguments(frame);
    frame.rendering.at = call.start;
    if (!(value instanceof Special)) throw new TemplateFault('the called value is not a macro');
    const args: CallArguments = { positional, named: new Map([...named, ['caller', caller]]) };
    return value.call(args, frame.rendering);
  };
}

function notACall(start: number): (frame: Frame) => Value {
  return (frame) => {
    frame.rendering.at = start;
    throw new TemplateFault('"{% call %}" needs a call of a macro');
  };
}

function writeText(text: string): Execute {
  return (frame) => {
    frame.rendering.out.text += text;
  };
}

function print(evaluate: Evaluate): Execute {
  return (frame) => {
    const value = evaluate(frame);
    const { out } = frame.rendering;
    if (typeof value === 'string') out.text += value;
    else printValue(out, value);
  };
}

function set(evaluate: Evaluate, assign: (frame: Frame, value: Value) => void): Execute {
  return (frame) => assign(frame, evaluate(frame));
}

function doNothing(): void {}

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
function compileLoop(
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

/** Assigns a value to a name, to several names at once, or to an attribute of a namespace. */
type Assign = (frame: Frame, value: Value) => void;

const OF_MAP = ' (to loop over the keys and values of a map, write `in map|items`)';

/** Compiles a target. `declare`: the names always have a value; `set`: reads of a name can come before it is assigned. */
function compileTarget(target: AssignmentTarget, scope: SlotScope, mode: 'declare' | 'set'): Assign {
  if (target.kind === 'name') {
    const slot = mode === 'declare' ? scope.declare(target.name) : scope.slotOf(target.name);
    return (frame, value) => {
      frame.slots[slot] = value;
    };
  }
  if (target.kind === 'namespace') return compileNamespaceTarget(target, scope);
  const items = target.items.map((item) => compileTarget(item, scope, mode));
  return (frame, value) => {
    frame.rendering.at = target.start;
    // A loop over a map visits its keys: their characters would be assigned to the names without an error.
    if (isString(value)) throw new TemplateFault(`cannot unpack a string into ${items.length} names${OF_MAP}`);
    const values = itemsOf(value, frame.rendering);
    if (values.length !== items.length) {
      throw new TemplateFault(`cannot unpack ${values.length} values into ${items.length} names`);
    }
    for (const [index, assign] of items.entries()) assign(frame, values[index]);
  };
}

function compileNamespaceTarget(
  target: Extract<AssignmentTarget, { readonly kind: 'namespace' }>,
  scope: SlotScope,
): Assign {
  const namespace = scope.resolve(target.name);
  return (frame, value) => {
    frame.rendering.at = target.start;
    const object = namespace(frame);
    if (!(object instanceof Namespace)) {
      throw new TemplateFault(`attributes can only be set on a namespace, not on ${kindOf(object)}`);
    }
    object.values.set(target.attribute, value);
  };
}

/** A compiled macro, the same for every call. */
export interface CompiledMacro {
  readonly macro: Macro;
  readonly file: string;
  /** Slots of the parameters, in order; `caller` comes after them. */
  readonly parameterSlots: readonly number[];
  readonly callerSlot: number;
  readonly fallbacks: readonly (Evaluate | undefined)[];
  readonly slotCount: () => number;
  readonly body: Execute;
}

/** A macro as a value, with the activation in which it was defined. */
export class MacroValue extends Special {
  readonly kindName = 'macro';
  readonly #compiled: CompiledMacro;
  readonly #frame: Frame;

  constructor(compiled: CompiledMacro, frame: Frame) {
    super();
    this.#compiled = compiled;
    this.#frame = frame;
  }

  override attribute(name: string): Value {
    const { macro } = this.#compiled;
    if (name === 'name') return macro.name;
    return name === 'arguments' ? macro.parameters.map((parameter) => parameter.name) : undefined;
  }

  override print(out: PromptOutput): void {
    out.write(`<macro ${this.#compiled.macro.name}>`);
  }

  override call(args: CallArguments): Value {
    const { rendering } = this.#frame;
    const { file, body } = this.#compiled;
    const callSite = { file: rendering.file, at: rendering.at };
    rendering.enterCall();
    const frame = this.#activate(args);
    rendering.file = file;
    const result = capture(frame, body);
    rendering.file = callSite.file;
    rendering.at = callSite.at;
    rendering.leaveCall();
    return result;
  }

  #activate(args: CallArguments): Frame {
    const { parameterSlots, callerSlot, slotCount, fallbacks } = this.#compiled;
    const slots = Array.from<Value>({ length: slotCount() }).fill(UNSET);
    const frame = new Frame(slots, this.#frame.rendering, this.#frame);
    const given = this.#given(args);
    for (const [index, slot] of parameterSlots.entries()) {
      slots[slot] = given[index] ?? (given[index] === null ? null : fallbacks[index]?.(frame));
    }
    slots[callerSlot] = args.named.get('caller');
    return frame;
  }

  /** Arguments by parameter; a `caller` is allowed with them. */
  #given({ positional, named }: CallArguments): readonly Value[] {
    const { macro } = this.#compiled;
    const names = macro.parameters.map((parameter) => parameter.name);
    if (positional.length > names.length) {
      throw new TemplateFault(`"${macro.name}" takes ${names.length} arguments, not ${positional.length}`);
    }
    for (const name of named.keys()) {
      if (!names.includes(name) && name !== 'caller') {
        throw new TemplateFault(`"${macro.name}" has no argument "${name}"`);
      }
    }
    return names.map((name, index) => (index < positional.length ? positional[index] : named.get(name)));
  }
}
