import type { TemplateWalker } from '../templates/template-walker.ts';
import type { Expression } from '../../../schema/template.ts';
import { alternatives, type StaticValue, undefinedEffect } from '../templates/static-value.ts';

/**
 * Fields, enum values, and attributes of `ctx` and `loop` must exist: an unknown one is undefined. `_` has two methods;
 * any other attribute of it fails.
 */
export function unknownFieldRule(expression: Expression, context: TemplateWalker): void {
  const access = accessOf(expression);
  if (access === undefined) return;
  const value = context.valueOf(access.object);
  const { name } = access;
  if (value.kind === 'enum') {
    const names = value.type.values.map((item) => item.name);
    if (!names.includes(name)) {
      context.report('template/unknown-enum-value', expression, { owner: value.type.name, name, names });
    }
    return;
  }
  if (value.kind === 'chat' && !CHAT_METHODS.includes(`_.${name}`)) {
    context.report('template/unknown-function', expression, { name: `_.${name}`, names: CHAT_METHODS });
  }
  const names = namesOf(value, context);
  if (names !== undefined && !names.known.includes(name)) {
    const effect = undefinedEffect(expression, context.place());
    context.report('template/unknown-field', expression, { owner: names.owner, name, names: names.known, effect });
  }
}

/** `object.name` and `object["name"]`. */
function accessOf(expression: Expression): { readonly object: Expression; readonly name: string } | undefined {
  if (expression.kind === 'attribute') return { object: expression.object, name: expression.name };
  if (expression.kind !== 'index' || expression.index.kind !== 'string') return undefined;
  return { object: expression.object, name: expression.index.value };
}

interface KnownNames {
  readonly owner: string;
  readonly known: readonly string[];
}

const CHAT_METHODS = ['_.role', '_.chat'];
const MAPPING_METHODS = ['items', 'keys', 'values', 'get'];

/** Returns the names of a value's attributes, or undefined if they are uncertain. */
function namesOf(value: StaticValue, context: TemplateWalker): KnownNames | undefined {
  if (value.kind === 'object') return { owner: `"${value.name}"`, known: [...value.attributes.keys()] };
  if (value.kind !== 'typed') return undefined;
  const types = alternatives(value.type, context.definitions);
  const classes = types.map((type) => (type.kind === 'class' ? context.definitions.classes.get(type.name) : undefined));
  const found = classes.filter((type) => type !== undefined);
  if (found.length === 0 || found.length < types.length || found.some((type) => type.dynamic)) return undefined;
  const known = [...found.flatMap((type) => type.fields.map((field) => field.name)), ...MAPPING_METHODS];
  return { owner: `class ${found.map((type) => `"${type.name}"`).join(' or ')}`, known };
}
