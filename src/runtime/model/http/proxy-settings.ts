import { BlockList, isIP } from 'node:net';
import { addressKind } from './address-guard.ts';
import { endpointOf, withoutBrackets } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * The proxy for an origin, from the variables that all tools share: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
 * `NO_PROXY`, in upper or lower case. Undefined if the connection is direct, as it always is to this machine, or if the
 * variable names a proxy of another kind (SOCKS).
 */
export function proxyFor(origin: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const target = endpointOf(new URL(origin));
  const proxy = variable(env, target.isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? variable(env, 'ALL_PROXY');
  if (proxy === undefined || isThisMachine(target.host) || isExempt(target, variable(env, 'NO_PROXY') ?? '')) {
    return undefined;
  }
  const address = proxy.includes('://') ? proxy : `http://${proxy}`;
  return URL.canParse(address) && /^https?:/u.test(address) ? address : undefined;
}

function variable(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name.toLowerCase()] ?? env[name];
  return value === '' ? undefined : value;
}

function isThisMachine(host: string): boolean {
  if (isIP(host) === 0) return host === 'localhost' || host.endsWith('.localhost');
  return host === '::1' || (host.startsWith('127.') && addressKind(host) === 'private');
}

/**
 * Entries are hosts, with or without a port; an entry also matches the names below it, and `*` matches all. Networks
 * (`10.0.0.0/8`) match the addresses in them, as in curl and Go; names are not resolved for that.
 */
function isExempt({ host, port }: Endpoint, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/u)
    .some((entry) => entry !== '' && matches(entry, host, port));
}

function matches(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInNetwork(host, entry);
  // A bare IPv6 address contains colons; with a port it is in brackets.
  const [, named = entry, at] = isIP(entry) === 6 ? [] : (/^(.*?)(?::(\d+))?$/u.exec(entry) ?? []);
  if (at !== undefined && Number(at) !== port) return false;
  const name = withoutBrackets(named).replace(/^\*?\./u, '');
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/u.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const addresses = new BlockList();
  addresses.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return addresses.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
