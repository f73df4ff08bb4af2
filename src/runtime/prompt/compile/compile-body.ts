import type { Expression, FilterCall, Macro, Statement } from '../../../schema/template.ts';
import { TemplateFault } from '../template-fault.ts';
import { printValue } from '../values/print-value.ts';
import { type CallArguments, isTrue, Special, type Value } from '../values/value.ts';
import { compileArguments } from './bind-arguments.ts';
import { compileExpression, compileFilter } from './compile-expression.ts';
import { compileLoop } from './compile-loop.ts';
import { compileTarget } from './compile-target.ts';
import { capture, type Evaluate, type Execute, type Frame, UNSET } from '../rendering.ts';
import { type CompiledMacro, MacroValue } from './macro-value.ts';
import type { SlotScope } from './slot-scope.ts';

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
