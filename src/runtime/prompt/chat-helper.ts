import type { JsonObject, JsonValue } from '../../base/json.ts';
import { TemplateFault } from './template-fault.ts';
import { type Data, dataOf } from './filters/to-json.ts';
import { EnumValue } from './values/enum-value.ts';
import { plainTextOf } from './values/print-value.ts';
import { RichText } from './values/rich-text.ts';
import type { TextSink } from './values/segment.ts';
import { type CallArguments, Float, Special, type Value } from './values/value.ts';

/** `_`: `_.role("user")` and `_.chat("user")` begin a message. */
export class ChatHelper extends Special {
  readonly kindName = 'chat helper';

  override callMethod(name: string, args: CallArguments): Value {
    if (name === 'role' || name === 'chat') return beginMessage(args);
    throw new TemplateFault(`"_" has no method "${name}"`);
  }

  override print(out: TextSink): void {
    out.write('{"chat": <function>, "role": <function>}');
  }
}

function beginMessage({ positional, named }: CallArguments): RichText {
  if (positional.length > 1) throw new TemplateFault('"_.role" takes one role; everything else needs a name');
  const role = positional.length === 1 ? positional[0] : named.get('role');
  if (role === undefined) throw new TemplateFault('"_.role" needs a role: _.role("user")');
  return new RichText([{ kind: 'role', role: nameOf(role), metadata: metadataOf(named, positional.length === 0) }]);
}

/** A value of an enum stands for what it prints: its alias. */
function nameOf(role: Value): string {
  if (typeof role === 'string') return role;
  if (role instanceof EnumValue || role instanceof RichText) return plainTextOf(role);
  throw new TemplateFault('the role has to be a string or a value of an enum');
}

const NO_METADATA: JsonObject = {};

function metadataOf(named: ReadonlyMap<string, Value>, withRole: boolean): JsonObject {
  if (named.size === 0) return NO_METADATA;
  const entries = [...named].filter(([name]) => name !== 'role' || !withRole);
  return Object.fromEntries(entries.map(([name, value]) => [name, jsonOf(dataOf(value, 'real'))]));
}

function jsonOf(data: Data): JsonValue {
  if (data instanceof Float) return data.value;
  if (data instanceof Map) {
    return Object.fromEntries([...(data as ReadonlyMap<string, Data>)].map(([key, value]) => [key, jsonOf(value)]));
  }
  return Array.isArray(data) ? (data as readonly Data[]).map(jsonOf) : (data as JsonValue);
}
