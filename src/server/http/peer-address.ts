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
