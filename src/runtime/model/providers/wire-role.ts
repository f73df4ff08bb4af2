import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { MessagePart } from '../../../schema/message.ts';
import type { ClientOptions } from '../options/client-options.ts';

/** The role as the provider is to see it. */
export function wireRole(role: string, options: ClientOptions): string {
  return options.remapRoles.get(role) ?? role;
}

/** The metadata of a part that the client lets through; undefined when there is none. */
export function wireMetadata(part: MessagePart, options: ClientOptions): JsonObject | undefined {
  const allowed = options.roleMetadata;
  if (part.metadata === undefined || allowed === 'none') return undefined;
  if (allowed === 'all') return part.metadata;
  const kept: Record<string, JsonValue> = {};
  for (const name of allowed) {
    const value = Object.hasOwn(part.metadata, name) ? part.metadata[name] : undefined;
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
