import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const BODY = JSON.stringify({ text: 'Dear all, please send me a copy of the notes. Ada Lovelace, ada@example.com' });
const HEADERS = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) };
/** Longer than the primary waits before it kills a worker that hangs. */
const TIMEOUT_MS = 20_000;
/** A refused caller tries again after this time. */
const REFUSED_PAUSE_MS = 5;
/** Connections opened at once after a pause of this process: a server that is not late itself accepts them. */
const MAX_BURST_SECONDS = 0.05;
/** The last message of a stream; a stream without it was cut. */
const LAST_MESSAGE = /"(?:final_result|error)":/u;

/** How requests ended. */
export interface Tally {
  /** 200, and the whole answer. */
  served: number;
  /** 503: the server runs and reports that it is full. */
  turnedAway: number;
  /** No process accepted the connection. */
  refused: number;
  /** Everything else: connections reset, no answer, other statuses. */
  failed: number;
  /** Streams that ended without a last message; `failed` includes them. */
  cutStreams: number;
  /** Each kind of failure, with its number. */
  readonly reasons: Record<string, number>;
}

export interface RunningLoad {
  readonly tally: Tally;
  /** Resolves when the requests in flight have ended. */
  stop(): Promise<Tally>;
}

export interface LaneOptions {
  /** Without a path. */
  readonly url: string;
  /** Loops of `POST /call`, each with a connection that it keeps. */
  readonly calls: number;
  /** Loops of `POST /stream`, likewise. */
  readonly streams: number;
  /** Pause of each loop between two requests; with 0, the server is the limit. */
  readonly pauseMs: number;
  /** Called by the calls; streams read `SmallPaced`. */
  readonly function?: string;
}

/** Closed loops of calls and streams, until stopped. */
export function startLanes({ url, calls, streams, pauseMs, function: name = 'Small' }: LaneOptions): RunningLoad {
  const tally = emptyTally();
  const agent = new Agent({ keepAlive: true });
  let running = true;
  const lane = async (path: string): Promise<void> => {
    while (running) {
      await ask(`${url}${path}`, agent, tally);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  const lanes = [
    ...Array.from({ length: calls }, () => lane(`/call/${name}`)),
    ...Array.from({ length: streams }, () => lane('/stream/SmallPaced')),
  ];
  return {
    tally,
    stop: async () => {
      running = false;
      await Promise.all(lanes);
      agent.destroy();
      return tally;
    },
  };
}

/** New connections at a fixed rate, one call each, until stopped. Omits those that this process could not open in time. */
export function startConnections(url: string, perSecond: number): RunningLoad {
  const tally = emptyTally();
  const open = new Set<Promise<void>>();
  let last = performance.now();
  let due = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    due = Math.min(due + ((now - last) / 1000) * perSecond, perSecond * MAX_BURST_SECONDS);
    last = now;
    for (; due >= 1; due -= 1) {
      const call = ask(`${url}/call/Small`, false, tally).finally(() => open.delete(call));
      open.add(call);
    }
  }, 2);
  return {
    tally,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
      return tally;
    },
  };
}

function emptyTally(): Tally {
  return { served: 0, turnedAway: 0, refused: 0, failed: 0, cutStreams: 0, reasons: {} };
}

/** Sends one request; resolves when its outcome is in the tally. */
function ask(url: string, agent: Agent | false, tally: Tally): Promise<void> {
  const isStream = url.includes('/stream/');
  return new Promise((resolve) => {
    const call = request(url, { method: 'POST', headers: HEADERS, agent, timeout: TIMEOUT_MS });
    call.once('timeout', () => call.destroy(new Error('no answer')));
    call.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code ?? error.message;
      if (reason !== 'ECONNREFUSED') fail(tally, reason);
      else tally.refused += 1;
      setTimeout(resolve, reason === 'ECONNREFUSED' ? REFUSED_PAUSE_MS : 0);
    });
    call.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      // `complete` shows the cause.
      response.on('error', () => undefined);
      response.once('close', () => {
        noteAnswer(tally, response.statusCode ?? 0, isStream, { text, complete: response.complete });
        resolve();
      });
    });
    call.end(BODY);
  });
}

interface Answered {
  readonly text: string;
  readonly complete: boolean;
}

function noteAnswer(tally: Tally, status: number, isStream: boolean, { text, complete }: Answered): void {
  if (status === 503) tally.turnedAway += 1;
  else if (status !== 200) fail(tally, `status ${status}`);
  else if (isStream && !LAST_MESSAGE.test(text)) {
    tally.cutStreams += 1;
    fail(tally, 'stream without last message');
  } else if (complete) tally.served += 1;
  else fail(tally, 'answer cut');
}

function fail(tally: Tally, reason: string): void {
  tally.failed += 1;
  tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
}
