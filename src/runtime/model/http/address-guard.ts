import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

/** The addresses that a guard allows: never link-local ones (cloud metadata), private and loopback only where permitted. */
export type AddressGuard = 'none' | 'public-only' | 'not-link-local';

/** The reason why a guard refuses an address; undefined if it allows the address. */
function refusal(address: string, guard: AddressGuard): string | undefined {
  if (guard === 'none') return undefined;
  const kind = addressKind(address);
  if (kind === 'link-local') return `${address} is a link-local or metadata address, which a request must never name`;
  if (kind === 'private' && guard === 'public-only') {
    return `${address} is a private address; the server allows these to callers only with --allow-private-urls`;
  }
  return undefined;
}

/**
 * The reason why a guard refuses the host of a URL before the name is resolved: an IP literal does not pass the lookup
 * hook. `URL.hostname` has already turned `0x7f.1`, `2130706433` and the like into dotted form.
 */
export function hostRefusal(hostname: string, guard: AddressGuard): string | undefined {
  const bare = hostname.replace(/^\[|\]$/gu, '');
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

function forbidden(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'SVC_FORBIDDEN_ADDRESS' });
}

export type AddressKind = 'public' | 'private' | 'link-local';

const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4');
linkLocal.addSubnet('fe80::', 10, 'ipv6');
// Metadata services outside the link-local range: AWS over IPv6, Alibaba Cloud, Oracle Cloud.
linkLocal.addAddress('fd00:ec2::254', 'ipv6');
linkLocal.addAddress('100.100.100.200', 'ipv4');
linkLocal.addAddress('192.0.0.192', 'ipv4');

// IANA special-purpose registries: every range that is not part of the public internet.
const privateNets = new BlockList();
for (const [net, bits] of [
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
] as const) {
  privateNets.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['fc00::', 7],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  privateNets.addSubnet(net, bits, 'ipv6');
}

/** The kind of an IP literal. IPv4 inside IPv6 (mapped, translated, NAT64, 6to4) counts as the IPv4 address. */
export function addressKind(address: string): AddressKind {
  const inner = embeddedIpv4(address);
  const literal = inner ?? address;
  const family = isIP(literal) === 6 ? 'ipv6' : 'ipv4';
  if (linkLocal.check(literal, family)) return 'link-local';
  return privateNets.check(literal, family) ? 'private' : 'public';
}

/** `::ffff:a.b.c.d`, `::ffff:0:a.b.c.d`, `::a.b.c.d`, `64:ff9b::a.b.c.d` and `2002:aabb:ccdd::` lead to an IPv4 host. */
function embeddedIpv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const groups = ipv6Groups(address);
  const high = groups.slice(0, 6).join(':');
  if (EMBEDDING.has(high) && !isUnspecifiedOrLoopback(groups)) return dotted(groups[6], groups[7]);
  if (groups[0] === 0x2002) return dotted(groups[1], groups[2]);
  return undefined;
}

/** RFC 4291 (mapped; compatible), RFC 7915 (translated), RFC 6052 (NAT64): the first 96 bits. */
const EMBEDDING: ReadonlySet<string> = new Set([
  '0:0:0:0:0:65535',
  '0:0:0:0:0:0',
  '0:0:0:0:65535:0',
  '100:65435:0:0:0:0',
]);

/** `::` and `::1` contain no IPv4 address. */
function isUnspecifiedOrLoopback(groups: readonly number[]): boolean {
  return groups.slice(0, 7).every((group) => group === 0) && (groups[7] ?? 0) <= 1;
}

function ipv6Groups(address: string): readonly number[] {
  // URL writes an IPv6 address in its canonical form: hexadecimal groups, no dotted end.
  const plain = new URL(`http://[${address.replace(/%.*$/u, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...after];
  return all.map((group) => Number.parseInt(group, 16));
}

function dotted(high: number | undefined, low: number | undefined): string {
  const first = high ?? 0;
  const second = low ?? 0;
  return `${first >> 8}.${first & 255}.${second >> 8}.${second & 255}`;
}
