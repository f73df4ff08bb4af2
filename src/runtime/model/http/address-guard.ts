import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** The addresses that a guard allows: never link-local ones (cloud metadata), private and loopback only where permitted. */
export type AddressGuard = 'none' | 'public-only' | 'not-link-local';

/** The reason why a guard refuses an address; undefined if it allows the address. */
function refusal(address: string, guard: AddressGuard): string | undefined {
  if (guard === 'none') return undefined;
  const kind = addressKind(address);
  if (kind === 'link-local') return `${address} is a link-local or metadata address, which a request must never name`;
  if (kind === 'private' && guard === 'public-only') {
    return `${address} is a private address, which requests can name only if the server has --allow-private-urls, or has --trust-loopback and the caller runs on its machine`;
  }
  return undefined;
}

/**
 * The reason why a guard refuses the host of a URL before the name is resolved: an IP literal does not pass the lookup
 * hook. `URL.hostname` has already turned `0x7f.1`, `2130706433` and the like into dotted form.
 */
export function hostRefusal(hostname: string, guard: AddressGuard): string | undefined {
  const bare = withoutBrackets(hostname);
  if (isIP(bare) !== 0) return refusal(bare, guard);
  if (guard === 'public-only' && /(^|\.)localhost\.?$/u.test(bare)) return refusal('127.0.0.1', guard);
  if (guard !== 'none' && /^metadata(\.google\.internal)?\.?$/u.test(bare)) return refusal('169.254.169.254', guard);
  return undefined;
}

/** Finds all addresses of a name, as `dns.lookup` does. */
export type AddressFinder = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A DNS lookup that fails if the guard refuses any of the addresses. The connection uses the addresses that were
 * checked, so the name cannot lead elsewhere a moment later.
 */
export function guardedLookup(guard: AddressGuard, find: AddressFinder): LookupFunction {
  return (hostname, options, callback) => {
    find(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const reason = firstRefusal(addresses, guard);
      if (reason !== undefined) callback(forbidden(`${hostname}: ${reason}`), '', 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
}

function firstRefusal(addresses: readonly LookupAddress[], guard: AddressGuard): string | undefined {
  for (const { address } of addresses) {
    const reason = refusal(address, guard);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** The code of the error with which a guarded lookup refuses a name. */
export const FORBIDDEN = 'SVC_FORBIDDEN_ADDRESS';

function forbidden(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: FORBIDDEN });
}

export type AddressKind = 'public' | 'private' | 'link-local';

// After the link-local ranges, metadata services outside them: Alibaba Cloud, Oracle Cloud, Azure (in a public range),
// AWS over IPv6 (also the credentials of EKS pods), Google over IPv6.
const linkLocal = blockList([
  ['169.254.0.0', 16],
  ['fe80::', 10],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
  ['fd00:ec2::', 32],
  ['fd20:ce::', 32],
]);

// IANA special-purpose registries: every range that is not part of the public internet.
const privateNets = blockList([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['fc00::', 7],
  ['fec0::', 10],
  ['ff00::', 8],
]);

/** The kind of an IP literal. IPv4 inside IPv6 (mapped, compatible, translated, NAT64, 6to4) counts as the IPv4 address. */
export function addressKind(address: string): AddressKind {
  const literal = address.replace(/%.*$/u, '');
  const family = isIP(literal) === 6 ? 'ipv6' : 'ipv4';
  if (linkLocal.check(literal, family)) return 'link-local';
  return privateNets.check(literal, family) ? 'private' : 'public';
}

/** The networks, and the IPv6 networks that lead to those of IPv4. `BlockList` finds mapped addresses (`::ffff:a.b.c.d`) itself. */
function blockList(networks: readonly (readonly [address: string, bits: number])[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of networks) {
    // The first call of `isIP` with an IPv6 address would compile a long regular expression with each start.
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits, family);
    if (family === 'ipv6') continue;
    // RFC 4291 (compatible), RFC 7915 (translated), RFC 6052 (NAT64): the IPv4 address follows the first 96 bits.
    for (const prefix of ['::', '::ffff:0:', '64:ff9b::']) list.addSubnet(`${prefix}${address}`, 96 + bits, 'ipv6');
    const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
    // RFC 3056 (6to4): it follows the first 16 bits.
    list.addSubnet(`2002:${hex(a, b)}:${hex(c, d)}::`, 16 + bits, 'ipv6');
  }
  return list;
}

function hex(high: number, low: number): string {
  return (high * 256 + low).toString(16);
}

/** The target of a connection. */
export interface Endpoint {
  /** TLS protects the connection. */
  readonly isSecure: boolean;
  /** A name or an address; an IPv6 address has no brackets. */
  readonly host: string;
  readonly port: number;
  /** The host and the port, as CONNECT takes them: `api.example.com:443`, `[::1]:443`. */
  readonly authority: string;
  /** The name that TLS sends (SNI); empty for an address (RFC 6066, 3). */
  readonly servername: string;
}

/** The endpoint of an http or https URL. */
export function endpointOf(url: URL): Endpoint {
  const isSecure = url.protocol === 'https:';
  const host = withoutBrackets(url.hostname);
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  return { isSecure, host, port, authority: `${url.hostname}:${port}`, servername: isIP(host) === 0 ? host : '' };
}

/** The host of a URL: `::1` for `[::1]`. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/gu, '');
}
