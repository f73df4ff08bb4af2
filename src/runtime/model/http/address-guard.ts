import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { addressKind } from './address-kind.ts';

/** What a guard lets through: link-local (cloud metadata) never, private and loopback only where allowed. */
export type AddressGuard = 'none' | 'public-only' | 'not-link-local';

/** Why a guard refuses an address; undefined when it lets it through. */
function refusal(address: string, guard: AddressGuard): string | undefined {
  if (guard === 'none') return undefined;
  const kind = addressKind(address);
  if (kind === 'link-local') return `${address} is a link-local or metadata address, which a request may never name`;
  if (kind === 'private' && guard === 'public-only') {
    return `${address} is a private address; the server allows these to callers only with --allow-private-urls`;
  }
  return undefined;
}

/**
 * The same for the host of a URL before anything is resolved: an IP literal does not pass the lookup hook.
 * `URL.hostname` has already turned `0x7f.1`, `2130706433` and the like into dotted form.
 */
export function hostRefusal(hostname: string, guard: AddressGuard): string | undefined {
  const bare = hostname.replace(/^\[|\]$/gu, '');
  if (isIP(bare) !== 0) return refusal(bare, guard);
  if (guard === 'public-only' && /(^|\.)localhost\.?$/u.test(bare)) return refusal('127.0.0.1', guard);
  if (guard !== 'none' && /^metadata(\.google\.internal)?\.?$/u.test(bare)) return refusal('169.254.169.254', guard);
  return undefined;
}

/** Finds all addresses of a name; `dns.lookup` does. */
export type AddressFinder = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A DNS lookup that fails when any answer is refused. The connection is made to the answers that were looked at, so a
 * name cannot lead elsewhere a moment later.
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
