import type { KeyFile } from './key-file.ts';
import type { DoorLink } from '../schema/playground-document.ts';
import type { PriceList } from '../schema/price-list.ts';
import type { Setting, SETTINGS } from './settings.ts';
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

/** The protocols beside `/call` and `/stream` that are on. */
export function doorLinks({ mcp, openaiApi }: Pick<Config, 'mcp' | 'openaiApi'>): readonly DoorLink[] {
  return [
    ...(openaiApi ? [{ name: "OpenAI's interface", path: '/v1' }] : []),
    ...(mcp ? [{ name: 'Model Context Protocol', path: '/mcp' }] : []),
  ];
}

/** The address of a page of a server that opens in a browser on this machine. */
export function pageAddress({ host, basePath }: Pick<Config, 'host' | 'basePath'>, port: number, path: string): string {
  const name = isEveryInterface(host) || host === '127.0.0.1' ? 'localhost' : hostInUrl(host);
  return `http://${name}:${port}${basePath}${path}`;
}

/** The `--host` of a server as a URL contains it: an IPv6 address has brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** True for the addresses that mean every interface: a server listens on them, but no one can connect to them. */
export function isEveryInterface(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
