import { addressKind } from './address-guard.ts';
import { isIP } from 'node:net';

/**
 * The proxy for an origin by the variables that all tools share: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
 * `NO_PROXY`, in capitals or not. Undefined when the connection is direct, as it always is to this machine.
 */
export function proxyFor(origin: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const url = new URL(origin);
  const proxy = variable(env, url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? variable(env, 'ALL_PROXY');
  if (proxy === undefined || isThisMachine(url.hostname) || isExempt(url, variable(env, 'NO_PROXY') ?? '')) {
    return undefined;
  }
  const address = proxy.includes('://') ? proxy : `http://${proxy}`;
  return URL.canParse(address) && /^https?:/u.test(address) ? address : undefined;
}

function variable(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name.toLowerCase()] ?? env[name];
  return value === '' ? undefined : value;
}

function isThisMachine(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/gu, '');
  if (isIP(bare) === 0) return bare === 'localhost' || bare.endsWith('.localhost');
  return bare === '::1' || (bare.startsWith('127.') && addressKind(bare) === 'private');
}

/** Entries are hosts, with or without a port; one stands for the names below it too, and `*` for all. */
function isExempt(url: URL, list: string): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return list
    .toLowerCase()
    .split(/[\s,]+/u)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, host = entry, at] = /^(.*?)(?::(\d+))?$/u.exec(entry) ?? [];
      if (at !== undefined && at !== port) return false;
      const name = host.replace(/^\*?\./u, '');
      return url.hostname === name || url.hostname.endsWith(`.${name}`);
    });
}
