import type { Config } from '../config/config.ts';
import { hostInUrl, isEveryInterface } from '../config/listen-host.ts';

/** The address of a page of a server that opens in a browser on this machine. */
export function pageAddress({ host, basePath }: Pick<Config, 'host' | 'basePath'>, port: number, path: string): string {
  const name = isEveryInterface(host) || host === '127.0.0.1' ? 'localhost' : hostInUrl(host);
  return `http://${name}:${port}${basePath}${path}`;
}
