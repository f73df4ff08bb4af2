import { matchesWildcard } from '../../base/wildcard.ts';
import type { CallerLimits, ClientRegistryPolicy, KeyEntry } from '../../config/key-file.ts';

/** The holder of a key. */
export class Caller {
  /** For logs, metrics and traces. */
  readonly name: string;
  /** Replaces the policy of the server. */
  readonly clientRegistry: ClientRegistryPolicy | undefined;
  readonly limits: CallerLimits | undefined;
  /** The patterns of the functions that it can call; undefined: all. */
  readonly functions: readonly string[] | undefined;

  constructor(entry: Omit<KeyEntry, 'sha256'>, defaultLimits?: CallerLimits) {
    this.name = entry.name;
    this.clientRegistry = entry.clientRegistry;
    this.limits = entry.limits ?? defaultLimits;
    this.functions = entry.functions;
  }

  /** True unless the key can call only some functions. */
  get callsAll(): boolean {
    return this.functions === undefined;
  }

  mayCall(functionName: string): boolean {
    return this.functions === undefined || this.functions.some((pattern) => matchesWildcard(pattern, functionName));
  }
}
