import type { AssignmentTarget } from '../../../schema/template.ts';
import { TemplateFault } from '../template-fault.ts';
import { itemsOf } from '../values/access-value.ts';
import { Namespace } from '../builtins/functions.ts';
import { isString, kindOf, type Value } from '../values/value.ts';
import type { Frame } from '../rendering.ts';
import type { SlotScope } from './slot-scope.ts';

/** Assigns a value to a name, to several names at once, or to an attribute of a namespace. */
export type Assign = (frame: Frame, value: Value) => void;

const OF_MAP = ' (to loop over the keys and values of a map, write `in map|items`)';

/** Compiles a target. `declare`: the names always have a value; `set`: reads of a name can come before it is assigned. */
export function compileTarget(target: AssignmentTarget, scope: SlotScope, mode: 'declare' | 'set'): Assign {
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
