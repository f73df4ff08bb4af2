import type { JsonValue } from '../../../base/json.ts';
import type { OptionEntry, OptionValue } from '../../../schema/client.ts';

/** Variables by name: the server's, and above them those that one request brought (null takes one away). */
export interface Environment {
  readonly server: Readonly<Record<string, string | undefined>>;
  readonly request?: ReadonlyMap<string, string | null>;
}

export interface ResolvedOptions {
  readonly values: ReadonlyMap<string, JsonValue>;
  /** Where values came from: each variable that was read, with the option it is part of. */
  readonly reads: readonly VariableRead[];
}

export interface VariableRead {
  readonly option: string;
  readonly variable: string;
  /** Undefined: it is set nowhere. */
  readonly value: string | undefined;
  readonly source: 'server' | 'request';
}

/** Puts the values of variables in place of `env.X`, and remembers which came from where. */
export function resolveOptions(options: readonly OptionEntry[], environment: Environment): ResolvedOptions {
  const reads: VariableRead[] = [];
  const values = new Map<string, JsonValue>();
  for (const { key, value } of options) {
    values.set(
      key,
      resolveValue(value, (variable) => {
        const read = readVariable(environment, variable, key);
        reads.push(read);
        return read.value ?? '';
      }),
    );
  }
  return { values, reads };
}

/** One variable. Empty counts as unset, as an empty key or URL is never meant. */
export function readVariable(environment: Environment, variable: string, option: string): VariableRead {
  const own = environment.request?.get(variable);
  if (own !== undefined)
    return { option, variable, value: own === null || own === '' ? undefined : own, source: 'request' };
  const server = Object.hasOwn(environment.server, variable) ? environment.server[variable] : undefined;
  return { option, variable, value: server === '' ? undefined : server, source: 'server' };
}

function resolveValue(value: OptionValue, read: (variable: string) => string): JsonValue {
  switch (value.kind) {
    case 'scalar':
      return value.value;
    case 'env':
      return read(value.variable);
    case 'list':
      return value.items.map((item) => resolveValue(item, read));
    case 'map':
      return Object.fromEntries(value.entries.map((entry) => [entry.key, resolveValue(entry.value, read)]));
  }
}
