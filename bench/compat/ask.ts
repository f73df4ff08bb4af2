import { bareValue } from '../bare-value.ts';

export const COMPAT_SIDES = ['svc', 'baml'] as const;
export type CompatSide = (typeof COMPAT_SIDES)[number];

/** The process died, or did not answer in time. */
export const LOST = 'no answer';
const REFUSED = 'refused';
/** Longer than a failed stream of BAML stays silent, even on a busy machine. */
const TIMEOUT_MS = 90_000;
/** A failed stream of BAML ends without a message after 15 s of silence; a good one ends at once after its value. */
const FAILED_SILENCE_MS = 8000;

interface Reading {
  readonly status: number;
  readonly text: string;
  /** The time between the last byte and the end. */
  readonly silenceMs: number;
}

/** How one side answered one request. */
export interface Answer {
  /** What the sides have to agree on. */
  readonly outcome: string;
  /** The body of a refusal. */
  readonly detail?: string;
}

const LOST_ANSWER: Answer = { outcome: LOST };

/** The outcome is `200 <value>`, or the class of another status, such as `5xx`. */
export async function askCall(url: string, body: string): Promise<Answer> {
  const reading = await read(url, body);
  if (reading === undefined) return LOST_ANSWER;
  const { status, text } = reading;
  if (status === 200) return { outcome: `200 ${show(parseExactly(text))}` };
  return { outcome: `${Math.floor(status / 100)}xx`, detail: text };
}

/** The outcome is the final value without the wrappers of checks and states, which BAML's streams do not have; or `refused`. */
export async function askStream(side: CompatSide, url: string, body: string): Promise<Answer> {
  const reading = await read(url, body);
  if (reading === undefined) return LOST_ANSWER;
  const { status, text, silenceMs } = reading;
  const events = text.split('\n').filter((line) => line.startsWith('data: '));
  const last = events.at(-1)?.slice('data: '.length);
  if (status !== 200 || last === undefined || silenceMs > FAILED_SILENCE_MS) return { outcome: REFUSED, detail: text };
  const value = parseExactly(last);
  if (side === 'baml') return { outcome: show(bareValue(value)) };
  const final = (value as Readonly<Record<string, unknown>>)['final_result'];
  return final === undefined ? { outcome: REFUSED, detail: text } : { outcome: show(bareValue(final)) };
}

/** Returns undefined if the connection broke. */
async function read(url: string, body: string): Promise<Reading | undefined> {
  const headers = { 'content-type': 'application/json' };
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const decoder = new TextDecoder();
    let text = '';
    let at = performance.now();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      at = performance.now();
    }
    return { status: response.status, text, silenceMs: performance.now() - at };
  } catch {
    return undefined;
  }
}

const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/** Parses integers that a double cannot hold as strings, so that no digit is lost. */
function parseExactly(json: string): unknown {
  return JSON.parse(json.replaceAll(JSON_TOKEN, (token) => (LONG_INTEGER.test(token) ? `"${token}"` : token)));
}

/** Sorts the checks of a value, whose order in BAML changes from call to call. */
function show(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) =>
    key === 'checks' && typeof inner === 'object' && inner !== null
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => a.localeCompare(b)))
      : inner,
  );
}
