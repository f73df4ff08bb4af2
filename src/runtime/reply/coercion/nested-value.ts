import { skipSpace, OPEN_BRACE, OPEN_BRACKET } from '../text/characters.ts';
import { ValueReader } from '../text/value-reader.ts';
import type { ValueNode } from '../text/value-node.ts';
import type { Coerced, Outcome } from './outcome.ts';
import type { Plan } from './plan.ts';

/** Under this the value written in a string is kept with it, since several members of a union may ask. */
const KEY = {};

/** The list or object that a string holds as text: models sometimes put JSON inside of JSON. */
function nestedValue(node: ValueNode): ValueNode | undefined {
  if (node.kind !== 'string') return undefined;
  const known = node.recall(KEY);
  if (known !== undefined) return (known as { readonly node: ValueNode | undefined }).node;
  const value = readNested(node.text);
  node.remember(KEY, { node: value });
  return value;
}

function readNested(text: string): ValueNode | undefined {
  const from = skipSpace(text, 0);
  const first = text.charCodeAt(from);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return undefined;
  const reader = new ValueReader();
  const end = reader.read(text, from, true);
  const whole = reader.root?.complete === true && skipSpace(text, end) === text.length;
  return whole ? reader.root : undefined;
}

/** A value inside of a text is being read: texts inside of that one stay texts, which bounds the recursion. */
let isInside = false;

/** What the type makes of the value that a string holds; undefined when it holds none, or it does not fit. */
export function coerceNested(plan: Plan, node: ValueNode): Coerced | undefined {
  const nested = isInside ? undefined : nestedValue(node);
  if (nested === undefined) return undefined;
  const outcome = coerceInside(plan, nested);
  if (!outcome.ok) return undefined;
  return outcome.as(outcome.score + 2, outcome.marks, [{ flag: 'json-in-text', path: '' }, ...outcome.notes]);
}

function coerceInside(plan: Plan, node: ValueNode): Outcome {
  isInside = true;
  try {
    return plan.coerce(node);
  } finally {
    isInside = false;
  }
}
