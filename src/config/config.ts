import type { KeyFile } from './key-file.ts';
import type { PriceList } from '../schema/price-list.ts';
import type { Setting } from './setting.ts';
import { ANSWERS_SETTINGS } from './settings/answers.ts';
import { DEFINITIONS_SETTINGS } from './settings/definitions.ts';
import { LIMITS_SETTINGS } from './settings/limits.ts';
import { LISTENING_SETTINGS } from './settings/listening.ts';
import { LOGGING_SETTINGS } from './settings/logging.ts';
import { PROCESSES_SETTINGS } from './settings/processes.ts';
import { SECURITY_SETTINGS } from './settings/security.ts';
import type { TelemetrySettings } from './telemetry-settings.ts';

/** Everything that a user can set. The type, the flags, the variables and the help all derive from `SETTINGS`. */
export type Config = SettingValues & {
  /** Whole cores that this process can use, by CPU affinity and the container's quota. */
  readonly cores: number;
  /** Variables that definitions read through `env.X`, and providers through the names of their default variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The content of the file of prices; absent without one. */
  readonly priceList?: PriceList;
  /** The content of the file of keys; absent without one. */
  readonly keyFile?: KeyFile;
  /** Absent unless a standard variable of OpenTelemetry names a receiver. */
  readonly telemetry?: TelemetrySettings;
  /** Values that no log line may contain: the API key, and each variable that looks like a credential. */
  readonly secrets: readonly string[];
};

export type SettingKey = keyof typeof SETTINGS;

type ValueOf<Key extends SettingKey> = (typeof SETTINGS)[Key] extends Setting<infer Value> ? Value : never;

type OptionalKey = { [Key in SettingKey]: undefined extends ValueOf<Key> ? Key : never }[SettingKey];

/** Durations are in milliseconds, sizes in bytes. A setting without a default can be absent. */
export type SettingValues = { readonly [Key in Exclude<SettingKey, OptionalKey>]: ValueOf<Key> } & {
  readonly [Key in OptionalKey]?: ValueOf<Key>;
};

/** Every setting, in the order of the help. A flag overrides its variable, which overrides `.env`. */
export const SETTINGS = {
  ...DEFINITIONS_SETTINGS,
  ...LISTENING_SETTINGS,
  ...LIMITS_SETTINGS,
  ...ANSWERS_SETTINGS,
  ...PROCESSES_SETTINGS,
  ...SECURITY_SETTINGS,
  ...LOGGING_SETTINGS,
};
