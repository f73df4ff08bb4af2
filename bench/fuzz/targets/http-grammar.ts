import type { Random } from '../../recover/random.ts';

/** A placeholder of six characters for the number of the input, so that a server can report which request it ran. */
export const ID = 'ID0000';

/** The requests of one connection, in Latin-1, and the lengths of the writes in which they leave. */
export type FramingInput = { readonly requests: readonly string[]; readonly writes: readonly number[] };

const METHODS = 'GET~HEAD~POST~PUT~DELETE~OPTIONS~TRACE~CONNECT~PATCH~BREW~get~PRI~'.split('~');
const VERSIONS = 'HTTP/1.1~HTTP/1.0~HTTP/1.2~HTTP/2.0~http/1.1~HTTP/1.1 ~HTTP/01.1~'.split('~');
const LINE_ENDS = '\n~\r~\r\r\n~\n\r\n~ \r\n~\r\n\r\n~\r\n ~\r\n\t'.split('~');
const LENGTH_VALUES = '0~5~+5~-1~0x5~5, 5~5 5~~005~99999999999999999999~5;~\t5~5\u000b~"5"'.split('~');
const CODING_VALUES = (
  'chunked~Chunked~chunked, chunked~gzip, chunked~identity~chunked;a=b~\u000bchunked~xchunked~' +
  'chunked, identity~"chunked"~ chunked~chunked ~chunked\t~,chunked~'
).split('~');
const NAMES = 'Content-Length~Transfer-Encoding~Host~Connection~Expect~Upgrade~X~~ ~content-length '.split('~');
const CHUNK_SIZES = '5~05~0x5~5;a=b~5 ~5\t~-1~+5~g~~ 5~5;a="\r\n"~fffffffffffffffff~5\n'.split('~');

const OTHER_LINES = (
  'Connection: close~Connection: keep-alive~Expect: 100-continue~Expect: x~X: y~: y~ X: y~X : y~X~' +
  'Host: x~Host:~Host: a b~X: \u0000~X: a\rb~X: \u0080~\u0000: y~X\u0001: y~X: y\r\n folded~X_y: z~' +
  'Upgrade: websocket~Trailer: X~Accept-Encoding: gzip~X-Request-Id: a~Content-Length~(: y~Héader: y'
).split('~');

export const DICTIONARY: readonly string[] = [
  ...LINE_ENDS,
  ...METHODS.map((method) => `${method} `),
  ...VERSIONS.map((version) => ` ${version}\r\n`),
  ...LENGTH_VALUES.map((value) => `Content-Length: ${value}\r\n`),
  ...CODING_VALUES.map((value) => `Transfer-Encoding: ${value}\r\n`),
  ...OTHER_LINES.map((line) => `${line}\r\n`),
  ...CHUNK_SIZES.map((size) => `${size}\r\nhello\r\n`),
  ...'0\r\n\r\n|0\r\nX: y\r\n\r\n|0;a\r\n\r\n|00\r\n\r\n|:| |\t|\u0000|%0d%0a|http://x|*|?|#'.split('|'),
];

export function generate(random: Random): FramingInput {
  const requests = Array.from({ length: random.pick([1, 1, 1, 2, 2, 3]) }, (_, at) => request(random, at));
  const writes = Array.from({ length: random.int(1, 3) }, () => random.pick([1, 2, 3, 17, 60, 100_000]));
  return { requests, writes: random.chance(0.6) ? [100_000] : writes };
}

/** A request that is valid, except for some of its parts: each is broken in a tenth of all cases. */
function request(random: Random, at: number): string {
  const odd = <Item>(usual: Item, others: readonly Item[]): Item => (random.chance(0.1) ? random.pick(others) : usual);
  const name = `${ID}-r${at}`;
  const isCall = random.chance(0.7);
  const payload = isCall ? `{"name":"${name}"}` : odd('', ['hello', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n']);
  const isChunked = random.chance(0.4);
  const target = isCall
    ? '/call/Hi'
    : odd(`/none/${name}`, [`http://x/none/${name}`, '*', `/none/${name}?a#b`, `//${name}`, '']);
  const lines = [
    `${odd(isCall ? 'POST' : 'GET', METHODS)} ${target} ${odd('HTTP/1.1', VERSIONS)}`,
    odd('Host: x', ['', 'Host: y\r\nHost: x', 'Host: ', 'host:x']),
    'Content-Type: application/json',
    ...Array.from({ length: random.pick([0, 0, 0, 1, 2]) }, () => random.pick(OTHER_LINES)),
    ...framingLines(random, payload, isChunked, odd),
  ].filter((line) => line !== '');
  const head = random.chance(0.2) ? [lines[0] ?? '', ...random.shuffle(lines.slice(1))] : lines;
  const end = odd('\r\n', LINE_ENDS);
  return (
    odd('', ['\r\n', '\n', ' ', '\u0000']) +
    head.join(end) +
    odd('\r\n\r\n', ['\n\n', '\r\n\n', '\n\r\n', '\r\n']) +
    bodyOf(payload, isChunked, odd)
  );
}

type Odd = <Item>(usual: Item, others: readonly Item[]) => Item;

function framingLines(random: Random, payload: string, isChunked: boolean, odd: Odd): readonly string[] {
  if (payload === '' && random.chance(0.9)) return [];
  const extra = odd([], [[`${random.pick(NAMES)}: ${random.pick([...LENGTH_VALUES, ...CODING_VALUES])}`]]);
  const length = odd(String(payload.length), [
    ...LENGTH_VALUES,
    String(payload.length - 3),
    String(payload.length + 40),
  ]);
  return [isChunked ? `Transfer-Encoding: ${odd('chunked', CODING_VALUES)}` : `Content-Length: ${length}`, ...extra];
}

function bodyOf(payload: string, isChunked: boolean, odd: Odd): string {
  if (!isChunked || payload === '') return payload;
  const middle = Math.floor(payload.length / 2);
  const parts = odd([payload], [[payload.slice(0, middle), payload.slice(middle)]]);
  const chunks = parts.map((part) => {
    const size = part.length.toString(16);
    return `${odd(size, [`0${size}`, `${size};a=b`, `${size} `, `${size};a="b"`, ...CHUNK_SIZES])}${odd('\r\n', LINE_ENDS)}${part}${odd('\r\n', LINE_ENDS)}`;
  });
  return `${chunks.join('')}${odd('0', ['00', '0;a=b', '0 ', '', '-0', '0x0'])}${odd('\r\n\r\n', ['\r\nX: y\r\n\r\n', '\r\nContent-Length: 5\r\n\r\n', '\n\n', '\r\n'])}`;
}
