import { err, ok } from '../base/result.ts';
import type { ContainerLimits } from './container-limits.ts';
import type { ParseValue } from './setting-values.ts';

export const LOG_LEVELS = ['off', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** One thing that a user can set. The help shows settings of one group together. */
export interface Setting<Value> {
  /** Long flag and placeholder, such as `--port <number>`. Absent for a credential: every user can see command lines. */
  readonly flag?: string;
  /** A second flag, for a setting that is on by default but that a variable can turn off. */
  readonly opposite?: readonly [flag: string, help: string];
  readonly variable: string;
  /** The variable of BAML's server with the same meaning, read if `variable` is not set. */
  readonly bamlVariable?: string;
  readonly group: SettingGroup;
  readonly help: string;
  /** Values contain credentials: no message quotes them. */
  readonly secret?: true;
  readonly parse: ParseValue<Value>;
  /** Written as a user would write it, or computed. Empty: the help shows no default. */
  readonly default: string | ComputedDefault<Value>;
}

export type SettingGroup =
  | 'Definitions'
  | 'Environment'
  | 'Listening'
  | 'Pages'
  | 'Limits'
  | 'Answers'
  | 'Processes'
  | 'Security'
  | 'Logging';

interface ComputedDefault<Value> {
  /** For the help; absent: the help shows no default. */
  readonly text?: string;
  readonly compute: (basis: DefaultBasis) => Value;
}

/** The facts on which computed defaults depend. */
export interface DefaultBasis {
  readonly limits: ContainerLimits;
  readonly workers: number;
  readonly logLevel: LogLevel;
}

/** More calls than a process usually serves at once, and few enough to keep the state of all of them in memory. */
const CALLS_PER_WORKER = 1024;

/** The default for limits that the workers share. */
export const CALLS_OF_ALL_WORKERS = {
  text: `${String(CALLS_PER_WORKER)} per worker`,
  compute: ({ workers }: DefaultBasis) => workers * CALLS_PER_WORKER,
};

/** The setting is absent if no source sets it. */
export const NO_DEFAULT = { compute: () => undefined };

/** Infers the type of a setting's value from its parser. */
export function setting<Value>(declared: Setting<Value>): Setting<Value> {
  return declared;
}

/** Accepts `0` too, for settings where it means none. */
export function zeroOr(parse: ParseValue<number>): ParseValue<number> {
  return (text) => {
    if (text === '0') return ok(0);
    const parsed = parse(text);
    return parsed.ok ? parsed : err(`0, or ${parsed.failure}`);
  };
}
