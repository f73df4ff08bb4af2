import type { FunctionType, TemplateStringType } from './function.ts';
import type { ClientType, RetryPolicyType } from './client.ts';
import type { Definitions } from './program.ts';
import type { AliasType, ClassType, EnumType } from './type.ts';

/** Definitions by name. Names come from users, so these are Maps and not objects. */
export interface DefinitionIndex {
  readonly classes: ReadonlyMap<string, ClassType>;
  readonly enums: ReadonlyMap<string, EnumType>;
  readonly aliases: ReadonlyMap<string, AliasType>;
  readonly functions: ReadonlyMap<string, FunctionType>;
  readonly templateStrings: ReadonlyMap<string, TemplateStringType>;
  readonly clients: ReadonlyMap<string, ClientType>;
  readonly retryPolicies: ReadonlyMap<string, RetryPolicyType>;
}

export function indexDefinitions(definitions: Definitions): DefinitionIndex {
  return {
    classes: byName(definitions.classes),
    enums: byName(definitions.enums),
    aliases: byName(definitions.aliases),
    functions: byName(definitions.functions),
    templateStrings: byName(definitions.templateStrings),
    clients: byName(definitions.clients),
    retryPolicies: byName(definitions.retryPolicies),
  };
}

function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}
