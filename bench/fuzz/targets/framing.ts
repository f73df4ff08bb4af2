import { broken, type Outcome, type Target } from '../target.ts';
import { FramingServer, type Verdict } from './framing-servers.ts';
import { DICTIONARY, generate, ID, type FramingInput } from './http-grammar.ts';

/** Without data for this long, a connection has its answers: a call takes a few milliseconds. */
const QUIET_MS = 40;
/** A difference counts only if it remains when the servers have this much time. */
const LONG_QUIET_MS = 500;
const AT_ONCE = 32;

/** The bytes of a connection, and the length of the first write. */
interface Sent {
  readonly text: string;
  readonly first: number;
}

/** Differences that are allowed, by what such requests contain. docs/http.md lists those of uWebSockets.js. */
type Allowed = readonly (readonly [string, (sent: Sent) => boolean])[];

function has(pattern: RegExp): (sent: Sent) => boolean {
  return ({ text }) => pattern.test(text);
}

const PIPELINED: Allowed = [
  ['requests behind another one', has(/HTTP\/1[^]*\n[^]*(?:\sHTTP\/|[A-Z]{3,7} [/*])/iu)],
  ['bytes behind a request with a length', hasBytesBehind],
];

/** The requests that nginx refuses, or after which it closes the connection, although RFC 9110 allows them. */
const VALID: Allowed = [
  ['a tab around a length, a coding or a host', has(/\r\n(?:content-length|transfer-encoding|host):[^\r]*\t/iu)],
  ['a path with an incomplete percent code', has(/ \/[^ \r]*%(?![0-9a-f]{2})[^ \r]* HTTP/iu)],
  ['OPTIONS with an asterisk', has(/OPTIONS \* /u)],
  ['two Expect headers', has(/\r\nexpect:[^]*\r\nexpect:/iu)],
  [
    'a Connection with another option that contains "close"',
    has(/\r\nconnection:(?=[^\r]*close)(?!(?:[^\r]*,)?[ \t]*close[ \t]*(?:,|\r))/iu),
  ],
];

/** The calls that run on uWebSockets.js although nginx refuses them. */
const RUNS_MORE: Allowed = [
  [
    'a header without a name behind a length or a coding',
    has(/\r\n(?:content-length|transfer-encoding):[^\r]*\r\n(?:[^\r\n]+\r\n)*?[ \t]*:/iu),
  ],
  ['a byte above 127 around a value', has(/\r\n(?:content-length|transfer-encoding|host):[^\r]*[^\0-\x7f]/iu)],
  ['chunks that are not exact', hasInexactChunks],
  ...VALID,
];

/** The requests that uWebSockets.js reads although nginx refuses them. */
const LOOSER: Allowed = [['a header without a name', has(/\r\n[ \t]*:/u)], ...RUNS_MORE];

/** The ways in which svc is stricter than nginx. */
const STRICTER: Allowed = [
  ['a line that ends without CR', has(/(?:^|[^\r])\n/u)],
  ['a CR inside a line', has(/\r(?!\n)/u)],
  ['an empty line before the request', has(/^\r?\n/u)],
  ['a version other than HTTP/1.1', has(/ (?!HTTP\/1\.1\r)HTTP\/|HTTP\/1\.1[^\r]/iu)],
  ['a header line without a colon', has(/\r\n[^:\r]+\r\n/u)],
  ['a header name that is not a token', has(/\r\n[^:\r]*[^\w!#$%&'*+.^`|~:\r-][^:\r]*:/u)],
  ['a header without a name', has(/\r\n:/u)],
  ['a folded header', has(/\r\n[ \t]/u)],
  ['a Trailer header', has(/\r\ntrailer:/iu)],
  ['chunk extensions, trailers or inexact chunks', hasInexactChunks],
  ['a Host that is not a host', has(/\r\nhost:(?![ \t]*[\w.:[\]-]+[ \t]*\r)/iu)],
  ...PIPELINED,
];

/** The ways in which one transport is stricter than the other. */
const DIFFERENT: Allowed = [
  ['HTTP/1.0', has(/HTTP\/1\.0/u)],
  ['an empty line before the request', has(/^\r?\n/u)],
  ['a Trailer header', has(/\r\ntrailer:/iu)],
  ['a first line in several packets', ({ text, first }) => first < text.indexOf('\n')],
  ['chunk extensions, trailers or inexact chunks', hasInexactChunks],
  ...LOOSER,
  ...PIPELINED,
];

/** True if the first request states its length, and more follows. */
function hasBytesBehind({ text }: Sent): boolean {
  const head = text.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length:[ \t]*(\d{1,6})[ \t]*\r/iu.exec(text.slice(0, head))?.[1];
  return head > 3 && length !== undefined && text.length > head + Number(length);
}

/** True unless each chunked body consists of sizes, data, line breaks and nothing else. */
function hasInexactChunks({ text }: Sent): boolean {
  for (const head of text.matchAll(/transfer-encoding:[^]*?\r\n\r\n/giu)) {
    const size = /([0-9a-f]+)\r\n/iuy;
    let end = -1;
    for (size.lastIndex = head.index + head[0].length; end !== 0;) {
      end = Number.parseInt(size.exec(text)?.[1] ?? '-1', 16);
      if (end < 0 || text.slice(size.lastIndex + end, size.lastIndex + end + 2) !== '\r\n') return true;
      size.lastIndex += end + 2;
    }
  }
  return false;
}

/** Starts svc on both transports, and nginx as the reference if it is installed. */
export async function startFramingTarget(): Promise<Target<FramingInput>> {
  const [uws, node, nginx] = [
    await FramingServer.svc('uws'),
    await FramingServer.svc('node'),
    await FramingServer.nginx(),
  ];
  if (nginx === undefined) console.log('nginx is not installed: the transports are compared only with each other');
  const servers = [uws, node, ...(nginx === undefined ? [] : [nginx])];
  const counts = new Map<string, number>();
  let inputs = 0;

  async function compare({ requests, writes }: FramingInput, quietMs: number): Promise<Outcome> {
    inputs += 1;
    const sending = { id: String(100_000 + (inputs % 900_000)), writes, quietMs };
    const text = requests.join('');
    const [ofUws, ofNode, ofNginx] = await Promise.all(servers.map((server) => server.send(text, sending)));
    if (ofUws === undefined || ofNode === undefined) throw new Error('no verdict');
    const found = faultOf(
      { uws: ofUws, node: ofNode, nginx: ofNginx },
      { text, first: Math.max(1, writes[0] ?? text.length) },
    );
    if (found.listed !== undefined) counts.set(found.listed, (counts.get(found.listed) ?? 0) + 1);
    return { ...found, trait: [ofUws, ofNode, ofNginx].map(shown).join(' | ') };
  }

  return {
    name: 'framing',
    dictionary: DICTIONARY,
    seeds: [],
    atOnce: AT_ONCE,
    minimiseChecks: 100,
    counts,
    generate,
    check: async (input) => {
      const outcome = await compare(input, QUIET_MS);
      const confirmed = outcome.fault === undefined ? outcome : await compare(input, LONG_QUIET_MS);
      for (const server of inputs % AT_ONCE === 0 ? servers : []) {
        const harm = await server.harm();
        if (harm !== undefined) return broken('a server is harmed', harm);
      }
      return confirmed;
    },
    close: async () => {
      for (const server of servers) await server.close();
    },
  };
}

interface Verdicts {
  readonly uws: Verdict;
  readonly node: Verdict;
  /** Absent if nginx is not installed. */
  readonly nginx: Verdict | undefined;
}

/** `listed`: the difference is one of those that are allowed. */
export function faultOf(verdicts: Verdicts, sent: Sent): Outcome & { readonly listed?: string } {
  const { uws, node, nginx } = verdicts;
  const all = `uws ${shown(uws)}, node ${shown(node)}, nginx ${shown(nginx)}`;
  for (const [name, svc] of [
    ['uws', uws],
    ['node', node],
  ] as const) {
    if (nginx === undefined) break;
    const isUws = name === 'uws';
    const smuggled = without(svc.ran, nginx.ran).length > 0;
    if (smuggled) return listedOr(isUws ? RUNS_MORE : VALID, `${name} runs a call that nginx does not see`, sent, all);
    const more = routed(svc) > routed(nginx);
    if (more) return listedOr(isUws ? LOOSER : VALID, `${name} answers more requests than nginx sees`, sent, all);
  }
  if (uws.ran.join() !== node.ran.join()) return listedOr(DIFFERENT, 'the transports differ', sent, all);
  if (nginx === undefined || without(nginx.ran, uws.ran).length === 0) return {};
  // A handler answered with its reason, such as the wrong content type.
  if ([...uws.answers, ...node.answers].some((answer) => answer.routed && answer.status >= 400)) return {};
  return listedOr(STRICTER, 'svc is stricter than nginx', sent, all);
}

function listedOr(list: Allowed, rule: string, sent: Sent, detail: string): Outcome & { readonly listed?: string } {
  const [listed] = list.find(([, applies]) => applies(sent)) ?? [];
  return listed === undefined ? broken(rule, detail) : { listed: `${rule}: ${listed}` };
}

/** Returns the calls that ran more often than among the others. */
function without(calls: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return calls.filter((call) => {
    const at = left.indexOf(call);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function routed({ answers }: Verdict): number {
  return answers.filter((answer) => answer.routed).length;
}

function shown(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '-';
  const answers = verdict.answers.map((answer) => `${answer.status}${answer.routed ? '' : '!'}`);
  return `[${answers.join(' ')}] ran ${verdict.ran.map((call) => call.slice(ID.length + 1)).join('+')}`;
}
