import { isIP } from 'node:net';

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
