import type { TemplateWalker } from '../templates/template-walker.ts';
import { CALLS_FAIL } from '../../../diagnostics/catalogue/template.ts';
import type { Type } from '../../../schema/type.ts';
import { alternatives, type Assignment } from '../templates/static-value.ts';

/** Several names take the items of a list. With a string or a number, rendering fails; a loop over a map visits its keys. */
export function unpackingRule({ target, value, source }: Assignment, context: TemplateWalker): void {
  if (target.kind !== 'names' || value.kind !== 'typed') return;
  const types = alternatives(value.type, context.definitions);
  if (types.length === 0 || !types.every(({ kind }) => SCALARS.has(kind))) return;
  const of = context.valueOf(source);
  const isMap = of.kind === 'typed' && alternatives(of.type, context.definitions).every(({ kind }) => kind === 'map');
  context.report('template/wrong-value', source, {
    message: `${isMap ? 'A loop over a map visits its keys, and a key' : 'A string, number, bool or enum value'} cannot be unpacked into several names: ${CALLS_FAIL}.`,
    help: isMap ? 'Add `|items` to loop over the keys with their values.' : 'Write one name instead of several.',
  });
}

const SCALARS: ReadonlySet<Type['kind']> = new Set(['string', 'int', 'float', 'bool', 'literal', 'enum']);
