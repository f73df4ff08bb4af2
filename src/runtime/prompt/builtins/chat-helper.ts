import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { TemplateFault } from '../template-fault.ts';
import { EnumValue } from '../values/argument-values.ts';
import type { PromptOutput } from '../values/output.ts';
import { plainTextOf } from '../values/print-value.ts';
import { type CallArguments, Float, RichText, Special, type Value } from '../values/value.ts';
import type { Work } from '../values/work.ts';
import { type Data, dataOf } from './to-json.ts';

/** `_`: `_.role("user")` and `_.chat("user")` begin a message. */
export class ChatHelper extends Special {
  readonly kindName = 'chat helper';

  override callMethod(name: string, args: CallArguments, work: Work): Value {
    if (name === 'role' || name === 'chat') return beginMessage(args, work);
    throw new TemplateFault(`"_" has no method "${name}"`);
  }

  override print(out: PromptOutput): void {
    out.write('{"chat": <function>, "role": <function>}');
  }
}

function beginMessage({ positional, named }: CallArguments, work: Work): RichText {
  if (positional.length > 1) throw new TemplateFault('"_.role" takes one role; other arguments need a name');
  const role = positional.length === 1 ? positional[0] : named.get('role');
  if (role === undefined) throw new TemplateFault('"_.role" needs a role: _.role("user")');
  const others = [...named].filter(([name]) => name !== 'role' || positional.length > 0);
  return new RichText([{ kind: 'role', role: nameOf(role, work), metadata: metadataOf(others, work) }]);
}

/** A value of an enum is a role by its printed form, the alias. */
function nameOf(role: Value, work: Work): string {
  if (typeof role === 'string') return role;
  if (role instanceof EnumValue || role instanceof RichText) return plainTextOf(role, work);
  throw new TemplateFault('the role must be a string or a value of an enum');
}

const NO_METADATA: JsonObject = {};

function metadataOf(named: readonly (readonly [string, Value])[], work: Work): JsonObject {
  if (named.length === 0) return NO_METADATA;
  return Object.fromEntries(named.map(([name, value]) => [name, jsonOf(dataOf(value, { naming: 'real', work }))]));
}

function jsonOf(data: Data): JsonValue {
  if (data instanceof Float) return data.value;
  if (data instanceof Map) {
    return Object.fromEntries([...(data as ReadonlyMap<string, Data>)].map(([key, value]) => [key, jsonOf(value)]));
  }
  return Array.isArray(data) ? (data as readonly Data[]).map(jsonOf) : (data as JsonValue);
}
