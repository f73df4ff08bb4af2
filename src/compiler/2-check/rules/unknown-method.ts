import type { TemplateWalker } from '../templates/template-walker.ts';
import { METHODS } from '../../../schema/template-vocabulary.ts';
import type { Expression } from '../../../schema/template.ts';
import type { Type } from '../../../schema/type.ts';
import { reportArguments } from './call-arguments.ts';
import { alternatives } from '../templates/static-value.ts';

/**
 * A called method must exist for the type of the value, and its arguments must match. Otherwise, rendering fails.
 */
export function unknownMethodRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'call' || expression.callee.kind !== 'attribute') return;
  const { object, name } = expression.callee;
  const value = context.valueOf(object);
  if (value.kind !== 'typed') return;
  const types = alternatives(value.type, context.definitions);
  const methods = types.map(methodsOf);
  if (types.length === 0 || methods.includes(undefined)) return;
  const known = methods.flatMap((each) => Object.entries(each ?? {}));
  const found = known.filter(([each]) => each === name);
  if (found.length === 0) {
    context.report('template/unknown-method', expression.callee, { name, names: new Set(known.map(([each]) => each)) });
  }
  const [parameters, ...others] = new Set(found.map(([, each]) => each));
  // The parameters depend on the value if two of its types have the method.
  if (parameters === undefined || others.length > 0) return;
  const { args, start, end } = expression;
  reportArguments({ what: `method "${name}"`, parameters, args, start, end }, context);
}

type Methods = Readonly<Record<string, readonly string[]>>;

const NO_METHODS: Methods = {};

/** Returns undefined for a type with unknown methods. */
function methodsOf(type: Type): Methods | undefined {
  switch (type.kind) {
    case 'string':
      return METHODS.string;
    case 'literal':
      return typeof type.value === 'string' ? METHODS.string : NO_METHODS;
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
      return NO_METHODS;
    case 'null':
    case 'alias':
    case 'union':
      return undefined;
  }
}
