import type { DefinitionIndex, TemplateStringType, ParameterType } from '../../../schema/program.ts';
import type { Macro, Expression, AssignmentTarget } from '../../../schema/template.ts';
import type { EnumType, Type } from '../../../schema/type.ts';
import type { Span } from '../../../diagnostics/span.ts';
import type { UndefinedEffect } from '../../../diagnostics/catalogue/template.ts';

/** The known properties of a value before the template runs. */
export type StaticValue =
  | { readonly kind: 'any' }
  /** An undeclared name. */
  | { readonly kind: 'missing' }
  /** `isItem`: the item of a list or map, which is null rather than undefined if its type allows null. */
  | { readonly kind: 'typed'; readonly type: Type; readonly isItem?: true }
  | { readonly kind: 'enum'; readonly type: EnumType }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'template-string'; readonly type: TemplateStringType }
  | { readonly kind: 'macro'; readonly macro: Macro }
  /** `ctx`, `ctx.client`, `loop`: a fixed set of attributes. */
  | { readonly kind: 'object'; readonly name: string; readonly attributes: ReadonlyMap<string, StaticValue> }
  | { readonly kind: 'output-format' }
  | { readonly kind: 'chat' };

export const ANY: StaticValue = { kind: 'any' };
export const MISSING: StaticValue = { kind: 'missing' };

const CLIENT: StaticValue = untyped('ctx.client', [
  'name',
  'provider',
  'default_role',
  'allowed_roles',
  'remap_role',
  'options',
]);

/** `ctx`, the same in every prompt. */
export const CONTEXT: StaticValue = object('ctx', {
  client: CLIENT,
  tags: ANY,
  output_format: { kind: 'output-format' },
});

/** `loop` inside a `for`. */
export const LOOP: StaticValue = untyped(
  'loop',
  'index index0 revindex revindex0 first last length depth depth0 previtem nextitem cycle changed'.split(' '),
);

/** Creates an object whose attributes have known names and unknown values. */
function untyped(name: string, names: readonly string[]): StaticValue {
  return object(name, Object.fromEntries(names.map((each): [string, StaticValue] => [each, ANY])));
}

/** Creates an object with these attributes and no others. */
export function object(name: string, attributes: Readonly<Record<string, StaticValue>>): StaticValue {
  return { kind: 'object', name, attributes: new Map(Object.entries(attributes)) };
}

export function typed(type: Type): StaticValue {
  return { kind: 'typed', type };
}

/** A type about which nothing is known, which has no alternatives. */
const UNKNOWN: Type = { kind: 'alias', name: '' };
export const UNKNOWN_LIST: StaticValue = typed({ kind: 'list', element: UNKNOWN });
export const UNKNOWN_MAP: StaticValue = typed({ kind: 'map', key: { kind: 'string' }, value: UNKNOWN });

/** Returns the members of a type except null, with aliases resolved. */
export function alternatives(type: Type, definitions: DefinitionIndex): readonly Type[] {
  const found: Type[] = [];
  const seen = new Set<string>();
  const stack = [type];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next.kind === 'union') stack.push(...next.members.toReversed());
    else if (next.kind === 'alias') {
      const alias = seen.has(next.name) ? undefined : definitions.aliases.get(next.name);
      seen.add(next.name);
      if (alias !== undefined) stack.push(alias.type);
    } else if (next.kind !== 'null') found.push(next);
  }
  return found;
}

/** Returns the loop variable of a `for` over the value. */
export function elementOf(value: StaticValue, definitions: DefinitionIndex): StaticValue {
  if (value.kind !== 'typed') return ANY;
  const [only, ...others] = alternatives(value.type, definitions);
  if (only === undefined || others.length > 0) return ANY;
  if (only.kind === 'list') return { kind: 'typed', type: only.element, isItem: true };
  return only.kind === 'map' ? typed({ kind: 'string' }) : ANY;
}

/** Returns the known properties of `value.name` or `value["name"]`. */
export function staticAttribute(value: StaticValue, name: string, definitions: DefinitionIndex): StaticValue {
  if (value.kind === 'object') return value.attributes.get(name) ?? ANY;
  if (value.kind === 'enum') return typed({ kind: 'enum', name: value.type.name });
  if (value.kind !== 'typed') return ANY;
  const [only, ...others] = alternatives(value.type, definitions);
  if (only === undefined || others.length > 0) return ANY;
  if (only.kind === 'map') return { kind: 'typed', type: only.value, isItem: true };
  if (only.kind !== 'class') return ANY;
  const field = definitions.classes.get(only.name)?.fields.find((candidate) => candidate.name === name);
  return field === undefined ? ANY : typed(field.type);
}

/** An assignment to several names: of the items of `source` in a loop, otherwise of `source` itself. */
export interface Assignment {
  readonly target: AssignmentTarget;
  readonly value: StaticValue;
  readonly source: Expression;
}

/** The names in the scope of a template, and the fallback position of its diagnostics. */
export interface TemplateScope {
  readonly definitions: DefinitionIndex;
  readonly parameters: readonly ParameterType[];
  /** The return type that the template has to describe; absent for a template_string, and if the provider receives its schema. */
  readonly returns?: Type;
  /** The roles that a client of the prompt allows; absent if any role is possible. */
  readonly roles?: ReadonlySet<string> | undefined;
  /** The name of the function or template_string in its declaration. */
  readonly declaration: Span;
  /** The declaration of each parameter; `declaration` is the fallback. */
  readonly parameterSpans?: ReadonlyMap<string, Span>;
}

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
