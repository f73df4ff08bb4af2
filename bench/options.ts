import { parseArgs } from 'node:util';
import { CASES, type Case } from './cases.ts';
import { IN_FLIGHT_NAMES, type InFlightName } from './in-flight/in-flight-cases.ts';
import type { SideName } from './sides.ts';

export interface BenchOptions {
  readonly cases: readonly Case[];
  /** Cases with a model that takes its time. */
  readonly inFlight: readonly InFlightName[];
  readonly sides: readonly SideName[];
  readonly pairs: number;
  /** Whether to compare one worker with two. */
  readonly scaling: boolean;
  /** Whether to measure latency at fixed rates, and the seconds of each window. */
  readonly latency: boolean;
  readonly latencySeconds: number;
  /** Whether to measure calls through the interfaces of OpenAI and MCP. */
  readonly doors: boolean;
  /** Whether the run leaves nothing out; only such a run writes a result. */
  readonly complete: boolean;
  /** The run fails after this time. */
  readonly limitMs: number;
}

const LATENCY = 'latency';
const LATENCY_SECONDS = 1;
const SCALING = 'scaling';
const DOORS = 'doors';
const CASE_NAMES = [...CASES.map((subject) => subject.name), LATENCY, SCALING, DOORS, ...IN_FLIGHT_NAMES];
/** `--quick` leaves these out. */
const LONG_CASES = new Set<string>(['stream-paced', LATENCY, SCALING, DOORS, ...IN_FLIGHT_NAMES]);

export const USAGE = `npm run bench -- [options]
  --case <name>     one of ${CASE_NAMES.join(', ')}; repeatable; default all
  --side <name>     one of svc, floor, baml; repeatable; default all that are installed
  --pairs <n>       measurements of each side, taken in turn (5)
  --quick           one pair, no paced streams, no fixed rates, no scaling, no doors, no slow model
  --seconds <n>     length of each window at a fixed rate (${LATENCY_SECONDS})
  --limit <minutes> gives up after this time (90)
  --help            prints this text`;

const SIDES: readonly SideName[] = ['svc', 'floor', 'baml'];

/** Throws an error with a message for the user if an option is unknown or has a wrong value. */
export function readOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      case: { type: 'string', multiple: true },
      side: { type: 'string', multiple: true },
      pairs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      seconds: { type: 'string', default: String(LATENCY_SECONDS) },
      limit: { type: 'string', default: '90' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const usual = values.quick ? CASE_NAMES.filter((name) => !LONG_CASES.has(name)) : CASE_NAMES;
  const wanted = new Set((values.case ?? usual).map((name) => pick('--case', name, CASE_NAMES)));
  const { quick, side, pairs } = values;
  const latencySeconds = positive('--seconds', values.seconds);
  return {
    cases: CASES.filter((subject) => wanted.has(subject.name)),
    inFlight: IN_FLIGHT_NAMES.filter((name) => wanted.has(name)),
    latency: wanted.has(LATENCY),
    latencySeconds,
    scaling: wanted.has(SCALING),
    doors: wanted.has(DOORS),
    complete:
      !quick && latencySeconds >= LATENCY_SECONDS && [values.case, side, pairs].every((value) => value === undefined),
    sides: side === undefined ? SIDES : side.map((name) => pick('--side', name, SIDES)),
    pairs: positive('--pairs', pairs ?? (quick ? '1' : '5')),
    limitMs: positive('--limit', values.limit) * 60_000,
  };
}

function pick<T extends string>(flag: string, wanted: string, items: readonly T[]): T {
  const found = items.find((item) => item === wanted);
  if (found === undefined) throw new Error(`${flag} "${wanted}" is not one of ${items.join(', ')}`);
  return found;
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${flag} "${text}" is not a number above 0`);
  return value;
}
