import type { Expression } from '../../../schema/template.ts';
import type { UndefinedEffect } from '../../../diagnostics/catalogue/template.ts';

/** The place of an expression in its template. */
export interface ExpressionPlace {
  /** The expressions around it, the outermost first. */
  readonly ancestors: readonly Expression[];
  /** The outermost expression is that of a `{{ … }}`. */
  readonly isPrinted: boolean;
}

/** Returns what an undefined value does in the place of an expression. */
export function undefinedEffect(expression: Expression, { ancestors, isPrinted }: ExpressionPlace): UndefinedEffect {
  let inner = expression;
  for (const outer of ancestors.toReversed()) {
    if (failsWithUndefined(outer, inner)) return 'fails';
    if (!passesOn(outer, inner)) return 'undefined';
    inner = outer;
  }
  return isPrinted ? 'prints-nothing' : 'undefined';
}

function failsWithUndefined(outer: Expression, inner: Expression): boolean {
  switch (outer.kind) {
    case 'attribute':
    case 'index':
      return outer.object === inner;
    case 'call':
      return outer.callee.kind === 'attribute' && outer.callee.object === inner;
    case 'unary':
      return outer.operator !== 'not';
    case 'binary':
      return ARITHMETIC.has(outer.operator);
    default:
      return false;
  }
}

/** Returns whether the value of `inner` can be that of `outer`. */
function passesOn(outer: Expression, inner: Expression): boolean {
  if (outer.kind === 'conditional') return outer.condition !== inner;
  return outer.kind === 'binary' && outer.operator === 'or';
}

const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '//', '%', '**']);
