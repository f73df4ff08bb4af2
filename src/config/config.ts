export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** Everything that flags, environment and `.env` decide. Durations in milliseconds, sizes in bytes. */
export interface Config {
  readonly from: string;
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  /** Whole cores that this process may use, by affinity and the container's quota. */
  readonly cores: number;
  readonly transport: 'auto' | 'uws' | 'node';
  readonly versionCheck: boolean;
  readonly features: readonly Feature[];
  readonly logLevel: LogLevel;
  readonly logContent: 'none' | 'short' | 'full';
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly streamTimeoutMs: number;
  /** How long node:http keeps idle connections open. */
  readonly keepAliveTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly drainDelayMs: number;
  readonly partialIntervalMs: number;
  /** Calls being served at once, by all workers together; beyond it they wait in a queue of `maxQueue`, then get 503. */
  readonly maxInFlight: number;
  readonly maxQueue: number;
  /** RSS above which a worker is replaced; 0 means never. */
  readonly maxWorkerMemoryBytes: number;
  /** Age above which a worker is replaced; 0 means never. */
  readonly maxWorkerAgeMs: number;
  /** Put before every path, as `/llm`; empty for none. Begins with a slash and ends without one. */
  readonly basePath: string;
  /** Origins that browsers may call from; `*` for any, empty for none (no CORS headers at all). */
  readonly corsOrigins: readonly string[];
  /** Serves /metrics on a port of its own as well. */
  readonly metricsPort?: number;
  readonly exposePrompts: boolean;
  readonly clientRegistry: 'open' | 'known' | 'off';
  readonly allowPrivateUrls: boolean;
  /** `SVC_PASSWORD`; absent means no authentication. */
  readonly apiKey?: string;
  /** The environment that definitions see through `env.X` and providers through their default variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Values that must never stand in a log line: the key and every variable that looks like a credential. */
  readonly secrets: readonly string[];
}

export type Feature = 'beta' | 'display_all_warnings';
