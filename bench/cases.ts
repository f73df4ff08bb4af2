import { isDeepStrictEqual } from 'node:util';
import { answer, type AnswerName } from './answers.ts';
import type { FunctionName } from './definitions.ts';
import { callLoad } from './in-flight/closed-loop.ts';
import { post, streamLoad, type LoadResult } from './load.ts';
import type { Side, SideName } from './sides.ts';

export type CaseName =
  | 'call-small'
  | 'call-large'
  | 'stream-burst'
  | 'stream-chunks'
  | 'stream-frames'
  | 'stream-paced'
  | 'stream-long'
  | 'scaling';

/** A function with the answer that it has to return. */
export interface CheckedCase {
  readonly name: CaseName;
  readonly title: string;
  readonly endpoint: 'call' | 'stream';
  readonly function: FunctionName;
  readonly answer: AnswerName;
  readonly connections: number;
}

/** A load that is measured on several sides. */
export interface Case extends CheckedCase {
  /** Requests in one measurement: enough for about a second of CPU, because a clock tick is 10 ms. */
  readonly requests: Readonly<Partial<Record<SideName, number>>>;
  /** Requests before the first measurement: until the engine of the fastest side has compiled its hot code. */
  readonly warmUp: Readonly<Partial<Record<SideName, number>>>;
}

export const CASES: readonly Case[] = [
  {
    name: 'call-small',
    title: '/call, 150-byte answer, c=32',
    endpoint: 'call',
    function: 'Small',
    answer: 'Small',
    connections: 32,
    requests: { svc: 12_000, floor: 12_000, baml: 3000 },
    warmUp: { svc: 40_000, floor: 40_000, baml: 3000 },
  },
  {
    name: 'call-large',
    title: '/call, 30 KB answer, c=8',
    endpoint: 'call',
    function: 'Large',
    answer: 'Large',
    connections: 8,
    requests: { svc: 1600, floor: 2000, baml: 24 },
    warmUp: { svc: 2000, floor: 2000, baml: 8 },
  },
  {
    name: 'stream-burst',
    title: '/stream, 30 KB of deltas at once, c=2',
    endpoint: 'stream',
    function: 'Large',
    answer: 'Large',
    connections: 2,
    requests: { svc: 60, baml: 4 },
    warmUp: { svc: 60, baml: 2 },
  },
  {
    name: 'stream-chunks',
    title: '/stream, 30 KB, each delta in an HTTP chunk of its own, c=2',
    endpoint: 'stream',
    function: 'LargeChunks',
    answer: 'Large',
    connections: 2,
    requests: { svc: 40, baml: 4 },
    warmUp: { svc: 80, baml: 2 },
  },
  {
    name: 'stream-frames',
    title: '/stream, 30 KB, each delta in a DATA frame of its own, c=2',
    endpoint: 'stream',
    function: 'LargeFrames',
    answer: 'Large',
    connections: 2,
    requests: { svc: 40, baml: 4 },
    warmUp: { svc: 80, baml: 2 },
  },
  {
    name: 'stream-long',
    title: '/stream, 300 KB of deltas at once, c=2',
    endpoint: 'stream',
    function: 'Larger',
    answer: 'Larger',
    connections: 2,
    requests: { svc: 12 },
    warmUp: { svc: 60 },
  },
  {
    name: 'stream-paced',
    title: '/stream, 30 KB, one delta per ms, c=2',
    endpoint: 'stream',
    function: 'LargePaced',
    answer: 'Large',
    connections: 2,
    requests: { svc: 2, baml: 2 },
    warmUp: {},
  },
];

/** Sends this number of the case's requests to a side. */
export function runLoad(subject: Case, side: Side, requests: number): Promise<LoadResult> {
  const load = { url: addressOf(subject, side), connections: Math.min(subject.connections, requests), requests };
  return subject.endpoint === 'call' ? callLoad(load) : streamLoad(load);
}

/** Sends one request; throws unless the value is the model's. */
export async function checkAnswer(subject: CheckedCase, side: Side): Promise<void> {
  const body = await post(addressOf(subject, side));
  const value = subject.endpoint === 'call' ? JSON.parse(body) : lastValue(body, side.name);
  if (isDeepStrictEqual(value, answer(subject.answer).value)) return;
  throw new Error(`${side.name}: ${subject.title}: wrong answer: ${body.slice(-300)}`);
}

/** The last event of a stream: svc marks it as the final one, the peer does not. */
function lastValue(body: string, side: SideName): unknown {
  const last = body.slice(body.lastIndexOf('data: ') + 'data: '.length);
  const event = JSON.parse(last) as Readonly<Record<string, unknown>>;
  return side === 'svc' ? event['final_result'] : event;
}

export function addressOf(subject: CheckedCase, side: Side): string {
  return `${side.url}/${subject.endpoint}/${subject.function}`;
}
