import { unknownMethod } from '../../../diagnostics/catalogue/template.ts';
import { METHODS } from '../../../schema/template-vocabulary.ts';
import type { Expression } from '../../../schema/template.ts';
import type { Type } from '../../../schema/type.ts';
import { alternatives } from './static-value.ts';
import type { RuleContext } from './template-rule.ts';

/** A method that is called has to be one of the kind of value: any other fails for certain. */
export function unknownMethodRule(expression: Expression, context: RuleContext): void {
  if (expression.kind !== 'call' || expression.callee.kind !== 'attribute') return;
  const { object, name } = expression.callee;
  const value = context.valueOf(object);
  if (value.kind !== 'typed') return;
  const types = alternatives(value.type, context.definitions);
  const names = types.map(methodsOf);
  if (types.length === 0 || names.some((known) => known === undefined || known.includes(name))) return;
  context.report(unknownMethod(context.span(expression.callee), name, new Set(names.flatMap((known) => known ?? []))));
}

/** Undefined when anything may be called, as the value of a map is. */
function methodsOf(type: Type): readonly string[] | undefined {
  switch (type.kind) {
    case 'string':
      return METHODS.string;
    case 'literal':
      return typeof type.value === 'string' ? METHODS.string : [];
    case 'list':
      return METHODS.list;
    case 'map':
    case 'class':
      return METHODS.map;
    case 'int':
    case 'float':
    case 'bool':
    case 'enum':
    case 'media':
      return [];
    case 'null':
    case 'alias':
    case 'union':
      return undefined;
  }
}
