import { percentDecoded } from '../base/percent-encoding.ts';
import { err, ok, type Result } from '../base/result.ts';

/** Where the shared store is, and how svc logs in. */
export interface StoreAddress {
  /** One server, or the sentinels or nodes that know the others. */
  readonly hosts: ReadonlyArray<{ readonly host: string; readonly port: number }>;
  readonly tls: boolean;
  /** The master that the sentinels at `hosts` know by this name; absent without sentinels. */
  readonly sentinel?: string;
  /** The servers at `hosts` form a cluster. */
  readonly cluster: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly sentinelPassword?: string;
  /** The number of the database; always 0 for a cluster. */
  readonly database: number;
  /** Begins every key. */
  readonly prefix: string;
}

const STORE_PORT = 6379;
const SENTINEL_PORT = 26_379;

const URL_FORM =
  /^(?<scheme>redis|rediss|valkey|valkeys):\/\/(?:(?<user>[^@:/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]+)(?:\/(?<database>\d{0,4}))?(?:\?(?<query>[^#]*))?$/u;

const HOST_FORM = /^(?<host>[\w.-]+|\[[\da-fA-F:.%]+\])(?::(?<port>\d{1,5}))?$/u;

/** Such as `production` or `team-a:svc`. Braces would decide on which node of a cluster a key is. */
const PREFIX_FORM = /^[\w.:-]{1,64}$/u;

const ALLOWED =
  'a URL such as redis://host:6379, rediss://user:password@host:6380/0 (TLS), redis://host1:26379,host2:26379?sentinel=mymaster or ' +
  'redis://host1:7000,host2:7000?cluster=true; valkey:// and valkeys:// mean the same as redis:// and rediss://; special characters in a ' +
  'user or a password are percent-encoded';

/** The failure never contains a part of the URL, because a URL contains credentials. */
export function storeAddress(text: string): Result<StoreAddress, string> {
  const parts = URL_FORM.exec(text)?.groups;
  if (parts === undefined) return err(ALLOWED);
  const query = new URLSearchParams(parts['query'] ?? '');
  const {
    sentinel,
    cluster,
    prefix = 'svc',
    sentinel_password: sentinelPassword,
    ...others
  } = Object.fromEntries(query);
  const hosts = hostsOf(parts['hosts'] ?? '', sentinel === undefined ? STORE_PORT : SENTINEL_PORT);
  const username = percentDecoded(parts['user'] ?? '');
  const password = percentDecoded(parts['password'] ?? '');
  const database = Number(parts['database'] ?? 0);
  const isCluster = cluster === 'true';
  const fits =
    (cluster === undefined || isCluster) &&
    sentinel !== '' &&
    (isCluster ? sentinel === undefined && database === 0 : sentinel !== undefined || hosts?.length === 1) &&
    PREFIX_FORM.test(prefix) &&
    Object.keys(others).length === 0;
  if (hosts === undefined || username === undefined || password === undefined || !fits) return err(ALLOWED);
  return ok({
    hosts,
    tls: parts['scheme'] === 'rediss' || parts['scheme'] === 'valkeys',
    ...(sentinel !== undefined && { sentinel }),
    cluster: isCluster,
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    database,
    prefix,
  });
}

/** The credentials of the URL: no log line may contain them. */
export function storeSecrets(address: StoreAddress | undefined): readonly string[] {
  return [address?.password, address?.sentinelPassword].filter((secret) => secret !== undefined);
}

function hostsOf(text: string, defaultPort: number): StoreAddress['hosts'] | undefined {
  const hosts = text.split(',').map((each) => {
    const { host = '', port = String(defaultPort) } = HOST_FORM.exec(each)?.groups ?? {};
    return { host: host.replaceAll(/[[\]]/gu, ''), port: Number(port) };
  });
  return hosts.every(({ host, port }) => host !== '' && port >= 1 && port <= 65_535) ? hosts : undefined;
}
