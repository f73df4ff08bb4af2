import type { Config } from '../config/config.ts';
import { requiresKey } from './http/auth.ts';
import { listensOnLoopback } from './http/local-caller.ts';

type Exposure = Pick<Config, 'allowPrivateUrls' | 'apiKey' | 'clientRegistry' | 'host' | 'keyFile'>;

/** Returns warnings for the log: what anyone can do with a server that has these settings, and what to set. */
export function startWarnings(exposure: Exposure): readonly string[] {
  const { allowPrivateUrls, apiKey, clientRegistry, host, keyFile } = exposure;
  if (requiresKey({ file: keyFile, password: apiKey })) return [];
  const isPublic = !listensOnLoopback(host);
  const anyone = isPublic ? 'anyone who can reach this server' : 'every program and every user of this machine';
  const warnings: string[] = [];
  if (isPublic) {
    warnings.push(
      `SVC_PASSWORD is not set and svc listens on ${host}: ${anyone} can call every function, paid for with the provider ` +
        'keys of this server. Set SVC_PASSWORD, or pass --host 127.0.0.1 to serve this machine only.',
    );
  }
  if (clientRegistry === 'open') {
    const targets = allowPrivateUrls ? 'any public or private address' : 'any public address';
    warnings.push(
      `SVC_PASSWORD is not set and --client-registry is open: ${anyone} can make svc send requests to ${targets}, through ` +
        'clients that a request defines. Set SVC_PASSWORD, or pass --client-registry known or off.',
    );
  }
  return warnings;
}
