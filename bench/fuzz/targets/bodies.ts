import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { BodyBudget } from '../../../src/server/admission.ts';
import { readJson, textOf } from '../../../src/server/http/read-json.ts';
import type { BodyOutcome, RequestHandler } from '../../../src/server/http/transport.ts';
import { listenOn, TRANSPORTS, type Listening } from '../../../test/server/support/transports.ts';
import type { Random } from '../../recover/random.ts';
import { broken, type Outcome, type Target } from '../target.ts';

/** A body: one text of Latin-1 per chunk, the lengths of the writes, and how the request ends. Numbers count modulo their choices. */
export type BodyInput = {
  readonly chunks: readonly string[];
  readonly coding: number;
  readonly extension: number;
  readonly writes: readonly number[];
  readonly limit: number;
  /** The share of the request in percent after which the client leaves; 100 or more: it waits for the answer. */
  readonly leaves: number;
};

const DISCARD_LIMIT = 2_000;
const LIMITS = [0, 1, 10, 1_000, 100_000];
/** Chunk extensions of RFC 9112, 7.1.1. */
const EXTENSIONS = ['', '', '', ';a', ';a=b', ';a="b;c"'];
/** Ends a check that hangs; no outcome depends on it. */
const HANG_MS = 15_000;
const MAX_DEPTH = 128;

/** What the server saw of one request. */
interface Seen {
  readonly outcomes: BodyOutcome['kind'][];
  body: Buffer;
}

class Side {
  readonly seen = new Map<string, Seen>();
  readonly budget = new BodyBudget(100_000_000);
  running = 0;
  readonly #listening: Promise<Listening>;

  readonly name: (typeof TRANSPORTS)[number];

  constructor(name: (typeof TRANSPORTS)[number]) {
    this.name = name;
    this.#listening = listenOn(name, this.#handle, { discardLimit: DISCARD_LIMIT, bodyBudget: this.budget });
  }

  /** `/<limit>/<id>` reads the body up to the limit. */
  readonly #handle: RequestHandler = (request, response) => {
    const [, limit = '', id = ''] = request.path.split('/');
    const seen: Seen = { outcomes: [], body: Buffer.alloc(0) };
    this.seen.set(id, seen);
    request.readBody(Number(limit), (outcome) => {
      seen.outcomes.push(outcome.kind);
      if (outcome.kind === 'body') seen.body = Buffer.from(outcome.bytes);
      response.send(200, [], outcome.kind);
    });
  };

  async port(): Promise<number> {
    return (await this.#listening).port;
  }

  async close(): Promise<void> {
    (await this.#listening).transport.close();
  }
}

/** Starts both transports in this process. */
export function startBodyTarget(): Target<BodyInput> {
  const sides = TRANSPORTS.map((name) => new Side(name));
  let requests = 0;
  return {
    name: 'body',
    covers: ['/src/server/http/transports/', '/src/server/http/read-json'],
    dictionary: [
      '{"a":',
      '[',
      '0\r\n\r\n',
      '\r\n',
      'ff\r\n',
      '\u00ef\u00bb\u00bf',
      '\u00c3',
      '\u00ed\u00a0\u0080',
      '}',
      '"',
    ],
    seeds: [],
    atOnce: 16,
    minimiseChecks: 200,
    generate,
    check: async (input) => {
      const fault = jsonFault(Buffer.from(input.chunks.join(''), 'latin1'));
      if (fault !== undefined) return fault;
      requests += 1;
      const id = String(requests);
      for (const side of sides) {
        const found = await checkOn(side, input, id);
        if (found !== undefined) return found;
      }
      return {};
    },
    close: async () => {
      for (const side of sides) await side.close();
    },
  };
}

function generate(random: Random): BodyInput {
  const text = (): string => {
    if (random.chance(0.5)) return random.pick(['{"a": [1]}', '{}', '{"a":"\u00c3\u00a9"}', '[[1]]', ' ', '\u00ff']);
    return 'x'.repeat(random.pick([1, 9, 10, 11, 100, 1_000, 3_500]));
  };
  return {
    chunks: Array.from({ length: random.int(0, 5) }, text),
    coding: random.int(0, 1),
    extension: random.int(0, EXTENSIONS.length - 1),
    writes: Array.from({ length: random.int(1, 4) }, () => random.pick([1, 2, 5, 30, 500, 10_000])),
    limit: random.int(0, LIMITS.length - 1),
    leaves: random.chance(0.3) ? random.int(0, 99) : 100,
  };
}

/** `readJson` accepts the objects that the JSON of this platform accepts, in valid UTF-8 and up to a depth. */
function jsonFault(bytes: Buffer): Outcome | undefined {
  const accepted = readJson(textOf(bytes)).ok;
  const wanted = isAcceptable(bytes);
  return accepted === wanted
    ? undefined
    : broken(`readJson ${wanted ? 'refuses' : 'accepts'} wrongly`, bytes.toString('latin1'));
}

function isAcceptable(bytes: Buffer): boolean {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) && depthOf(value) <= MAX_DEPTH;
  } catch {
    return false;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce((deepest: number, member) => Math.max(deepest, depthOf(member)), 0);
}

interface Sent {
  readonly head: string;
  readonly body: string;
  readonly payload: string;
  readonly limit: number;
}

function requestOf({ chunks, coding, extension, limit }: BodyInput, id: string, takesExtensions: boolean): Sent {
  const most = choice(LIMITS, limit);
  const isChunked = choice([false, true], coding);
  const payload = chunks.join('');
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${payload.length}`;
  const suffix = takesExtensions ? choice(EXTENSIONS, extension) : '';
  const coded = chunks
    .filter((chunk) => chunk !== '')
    .map((chunk) => `${chunk.length.toString(16)}${suffix}\r\n${chunk}\r\n`);
  const body = isChunked ? `${coded.join('')}0\r\n\r\n` : payload;
  return { head: `POST /${most}/${id} HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`, body, payload, limit: most };
}

function choice<Item>(items: readonly Item[], at: number): Item {
  return items[Math.abs(Math.trunc(at)) % items.length] as Item;
}

async function checkOn(side: Side, input: BodyInput, id: string): Promise<Outcome | undefined> {
  // uWebSockets.js does not support chunk extensions (docs/http.md).
  const sent = requestOf(input, id, side.name === 'node');
  const bytes = Buffer.from(sent.head + sent.body, 'latin1');
  const until = input.leaves >= 100 ? bytes.length : Math.floor((bytes.length * Math.max(0, input.leaves)) / 100);
  side.running += 1;
  const isSeen = until >= sent.head.length;
  const isDone = (answered: boolean): boolean => {
    const outcomes = side.seen.get(id)?.outcomes.length ?? 0;
    return until < bytes.length ? !isSeen || outcomes > 0 : answered;
  };
  const settled = await send(side, bytes.subarray(0, until), {
    // One write sends the head: the target "framing" splits heads.
    writes: [sent.head.length, ...input.writes],
    leaves: until < bytes.length,
    isDone,
  });
  side.running -= 1;
  const seen = side.seen.get(id);
  side.seen.delete(id);
  if (!settled) return broken('a request never ends', JSON.stringify(seen ?? 'not seen'));
  if (side.running === 0 && side.budget.held !== 0) return broken('the body budget leaks', String(side.budget.held));
  return outcomeFault(seen, sent, { arrived: until - sent.head.length, leaves: until < bytes.length });
}

interface Sending {
  readonly writes: readonly number[];
  readonly leaves: boolean;
  readonly isDone: (answered: boolean) => boolean;
}

/** Sends the bytes in writes of these lengths; resolves to false if the request does not end. */
async function send(side: Side, bytes: Buffer, { writes, leaves, isDone }: Sending): Promise<boolean> {
  const socket = connect(await side.port(), '127.0.0.1').setNoDelay(true);
  let answered = false;
  socket.on('error', () => undefined).on('data', () => (answered = true));
  const closed = once(socket, 'close').then(() => (answered = true));
  await Promise.race([once(socket, 'connect'), closed]);
  for (let at = 0, count = 0; at < bytes.length && !socket.destroyed; count += 1) {
    // At most a few dozen writes; the last one sends the rest.
    const length = count > 40 ? bytes.length : Math.max(1, choice(writes, count) || 1);
    socket.write(bytes.subarray(at, at + length));
    at += length;
    await turn();
  }
  if (leaves) socket.destroySoon();
  const deadline = performance.now() + HANG_MS;
  while (!isDone(answered) && performance.now() < deadline) await sleep(1);
  const isSettled = isDone(answered);
  socket.destroy();
  return isSettled;
}

function outcomeFault(
  seen: Seen | undefined,
  { payload, limit }: Sent,
  { arrived, leaves }: { readonly arrived: number; readonly leaves: boolean },
): Outcome | undefined {
  if (seen === undefined) return arrived < 0 || leaves ? undefined : broken('a request is not seen', '');
  const [outcome, ...more] = seen.outcomes;
  if (more.length > 0) return broken('a body has several outcomes', seen.outcomes.join());
  const wanted = payload.length > limit ? 'too-large' : 'body';
  // A client that leaves early can have sent enough for either outcome.
  const isRight = outcome === wanted || (leaves && outcome === 'aborted');
  if (!isRight) return broken(`a body is ${String(outcome)} instead of ${wanted}`, JSON.stringify(seen.outcomes));
  const isSame = outcome !== 'body' || seen.body.equals(Buffer.from(payload, 'latin1'));
  return isSame ? undefined : broken('a body differs from the one sent', seen.body.toString('latin1'));
}
