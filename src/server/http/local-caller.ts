/**
 * The evidence that the caller of a request runs on this machine: the connection comes from loopback, the request names a
 * loopback host, and no header of a proxy shows that it forwards the request for another host.
 */

/** `127.0.0.1`, `127.1.2.3`: dotted decimal only, because parsers disagree about every other notation. */
const LOOPBACK_ADDRESS = /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/u;

/** RFC 6761, 6.3: `localhost` and every name below it. */
const LOCAL_NAME = /^(?:[a-z0-9-]{1,63}\.){0,8}localhost$/iu;

const HOST_WITH_PORT = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/iu;

/**
 * True for a `Host` such as `localhost:2024`, `127.0.0.1` or `[::1]:80`. An attacker can make any other name resolve to this
 * machine (DNS rebinding); the browser of a local user then sends requests on behalf of the attacker's page.
 */
export function isLoopbackHost(host: string): boolean {
  const name = HOST_WITH_PORT.exec(host)?.[1] ?? '';
  return name === '[::1]' || LOCAL_NAME.test(name) || LOOPBACK_ADDRESS.test(name);
}

/** True for the `--host` of a server that only programs on this machine can reach. */
export function listensOnLoopback(host: string): boolean {
  return isLoopbackHost(host.includes(':') ? `[${host}]` : host);
}

/** True for an `Origin` of a page that this machine serves. `null` (a file, a sandboxed frame) is not one. */
export function isLoopbackOrigin(origin: string): boolean {
  const match = /^https?:\/\/(.+)$/iu.exec(origin);
  return isLoopbackHost(match?.[1] ?? '');
}

/** Words in the names of headers that proxies, load balancers and CDNs of many vendors add. */
const PROXY_WORDS =
  'forward(?:ed|er|ing)?|via|proxy|proxied|envoy|original|originating|cdn|cf|cloudfront|akamai|fastly|fly|azure|appengine|vercel|' +
  'netlify|nf|arr|varnish|incap|sucuri|amzn|tailscale|ngrok';

/** The last part of the name of a header that contains an address: `-ip`, `-clientip`, `-remote-addr`, `-pseudo-ipv4`. */
const ADDRESS_WORDS =
  '(?:client|real|remote|socket|user|source|src|peer|connecting|caller|visitor|host)?(?:ip|ipv[46]|addr|address)';

/** Headers in which proxies repeat the host, scheme or port of the request that they received. */
const RECEIVED = 'x-(?:url-)?(?:host|scheme|proto|protocol|port)';

const FORWARDING = new RegExp(
  `(?:^|[-_])(?:${PROXY_WORDS})(?:[-_]|$)|(?:^|[-_])${ADDRESS_WORDS}$|^${RECEIVED}$|^front-end-https$`,
  'u',
);

/** Clients send the same few names with every request. */
const REMEMBERED = 256;

const verdicts = new Map<string, boolean>();

/**
 * True for the lower-case name of a header that a proxy adds. Matches patterns in the name, because vendors keep adding
 * headers; a false positive only ends the trust in a local caller.
 */
export function isForwardingHeader(name: string): boolean {
  const known = verdicts.get(name);
  if (known !== undefined) return known;
  const forwards = FORWARDING.test(name);
  if (verdicts.size < REMEMBERED) verdicts.set(name, forwards);
  return forwards;
}

/** `::ffff:a.b.c.d`, the IPv4-mapped form that a dual-stack socket reports, in groups. */
const MAPPED = /^0:0:0:0:0:ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/u;

/** Returns one form for each address: dotted decimal for IPv4, mapped or not; eight groups without leading zeros for IPv6. */
export function addressOf(text: string): string {
  if (!text.includes(':')) return text;
  const groups = expanded(text.replace(/%.*$/u, '').toLowerCase()).join(':');
  const mapped = MAPPED.exec(groups);
  if (mapped === null) return groups;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** 127.0.0.0/8 and ::1, in the form of `addressOf`. */
export function isLoopbackAddress(address: string): boolean {
  return address.startsWith('127.') || address === '0:0:0:0:0:0:0:1';
}

/**
 * Returns the part of an address that a caller cannot change at will: an IPv4 address, or the first 64 bits of an IPv6
 * address (RFC 6177: a site, and often a single host, can use every address below such a prefix).
 */
export function networkOf(address: string): string {
  return address.includes(':') ? address.split(':', 4).join(':') : address;
}

function expanded(text: string): readonly string[] {
  const [front = [], back = []] = text.split('::').map((part) => groupsOf(part));
  const gap = text.includes('::') ? 8 - front.length - back.length : 0;
  return [...front, ...Array.from({ length: Math.max(0, gap) }, () => '0'), ...back];
}

/** Returns the groups on one side of `::`; a dotted-decimal end counts as two. */
function groupsOf(part: string): readonly string[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16).toString(16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
  });
}
