import { isDeepStrictEqual } from 'node:util';
import { answer } from '../answers.ts';
import { DELTA_EVERY_MS, DELTAS } from './delta-stamps.ts';
import type { ClosedLoad } from './closed-loop.ts';
import { ask, type SlowSide, type Wire } from './slow-stage.ts';

export const IN_FLIGHT_NAMES = ['tls-h2', 'in-flight', 'streams-in-flight', 'burst', 'memory'] as const;
export type InFlightName = (typeof IN_FLIGHT_NAMES)[number];

/** `name` without the number and the wire: one name selects several cases. */
export interface InFlightCase {
  readonly name: InFlightName;
  readonly endpoint: 'call' | 'stream';
  readonly wire: Wire;
  readonly inFlight: number;
}

/** The loads that last. */
export const LASTING: readonly InFlightCase[] = [
  { name: 'tls-h2', endpoint: 'call', wire: 'h2', inFlight: 300 },
  { name: 'tls-h2', endpoint: 'call', wire: 'h2', inFlight: 1000 },
  { name: 'in-flight', endpoint: 'call', wire: 'plain', inFlight: 1000 },
  { name: 'in-flight', endpoint: 'call', wire: 'plain', inFlight: 4000 },
  { name: 'streams-in-flight', endpoint: 'stream', wire: 'plain', inFlight: 300 },
  { name: 'streams-in-flight', endpoint: 'stream', wire: 'plain', inFlight: 1000 },
  { name: 'streams-in-flight', endpoint: 'stream', wire: 'h2', inFlight: 300 },
  { name: 'streams-in-flight', endpoint: 'stream', wire: 'h2', inFlight: 1000 },
];

/** The loads that hit a server that has just started. */
export const BURSTS: readonly InFlightCase[] = [
  { name: 'burst', endpoint: 'call', wire: 'plain', inFlight: 1000 },
  { name: 'burst', endpoint: 'call', wire: 'h2', inFlight: 1000 },
];

/** The load under which a call in flight is weighed. */
export const HELD: InFlightCase = { name: 'memory', endpoint: 'call', wire: 'plain', inFlight: 1000 };

/** The time that the model takes. */
export function modelMs({ endpoint }: InFlightCase): number {
  return endpoint === 'call' ? 1000 : DELTAS * DELTA_EVERY_MS;
}

export function titleOf({ endpoint, wire, inFlight }: InFlightCase): string {
  return `/${endpoint}, ${wire === 'h2' ? 'h2 over TLS' : 'plaintext'}, ${inFlight} in flight`;
}

export function loadOf(subject: InFlightCase, side: SlowSide, rampMs: number): ClosedLoad {
  const { endpoint, inFlight } = subject;
  const isRight = endpoint === 'call' ? isContact : hasAllDeltas;
  return { port: side.port, path: pathOf(subject), inFlight, rampMs, isRight };
}

/** A side that passes partial values on sends more events than this in a stream of one second. */
const FEWEST_EVENTS = 10;

/** Sends one request; throws unless its answer is the model's. A stream must grow: a side that holds partial values back does less work. */
export async function checkAnswer(subject: InFlightCase, side: SlowSide): Promise<void> {
  const body = await ask(side, pathOf(subject));
  const events = body.split('data:').length - 1;
  if (subject.endpoint === 'stream' && events < FEWEST_EVENTS)
    throw new Error(`${side.name}: ${titleOf(subject)}: ${events} events, expected at least ${FEWEST_EVENTS}`);
  const isRight = subject.endpoint === 'call' ? isDeepStrictEqual(JSON.parse(body), CONTACT) : hasAllDeltas(body);
  if (!isRight) throw new Error(`${side.name}: ${titleOf(subject)}: wrong answer: ${body.slice(-300)}`);
}

function pathOf({ endpoint, wire }: InFlightCase): string {
  return `/${endpoint}/${wire === 'h2' ? 'H2' : 'Plain'}${endpoint === 'call' ? 'Call' : 'Stream'}`;
}

const CONTACT = answer('Small').value;
/** What both sides write for it: comparing every answer must cost little. */
const CONTACT_TEXT = JSON.stringify(CONTACT);

/** True if the body of an answer is the small value. */
export function isContact(body: string): boolean {
  return body === CONTACT_TEXT || isDeepStrictEqual(JSON.parse(body), CONTACT);
}

/** The last event contains a stamp for each delta. */
function hasAllDeltas(events: string): boolean {
  return events.slice(events.lastIndexOf('data:')).split('@').length - 1 === DELTAS;
}
