import type { Config } from './config.ts';

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
