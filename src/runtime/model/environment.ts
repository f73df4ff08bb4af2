import type { JsonValue } from '../../base/json.ts';
import { resolveValue, type OptionEntry } from '../../schema/client.ts';

/** Variables by name: the server's, and above them those of one request (null removes one). */
export interface CallEnvironment {
  readonly server: Readonly<Record<string, string | undefined>>;
  readonly request?: ReadonlyMap<string, string | null>;
}

export interface ResolvedOptions {
  readonly values: ReadonlyMap<string, JsonValue>;
  /** Each variable that was read, with the option that it is part of. */
  readonly reads: readonly VariableRead[];
}

export interface VariableRead {
  readonly option: string;
  readonly variable: string;
  /** Undefined: it is not set. */
  readonly value: string | undefined;
  readonly source: 'server' | 'request';
}

/** Replaces `env.X` by the values of variables, and records where each value came from. */
export function resolveOptions(options: readonly OptionEntry[], environment: CallEnvironment): ResolvedOptions {
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

/** Reads one variable. Empty counts as unset, because an empty key or URL is never intended. */
export function readVariable(environment: CallEnvironment, variable: string, option = ''): VariableRead {
  const own = environment.request?.get(variable);
  if (own !== undefined)
    return { option, variable, value: own === '' ? undefined : (own ?? undefined), source: 'request' };
  const server = Object.hasOwn(environment.server, variable) ? environment.server[variable] : undefined;
  return { option, variable, value: server === '' ? undefined : server, source: 'server' };
}
