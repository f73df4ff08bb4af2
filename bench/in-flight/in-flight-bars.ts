import type { Verdict } from '../bars.ts';
import { median } from '../load.ts';
import { modelMs } from './in-flight-cases.ts';
import type { BurstResult, HeldMemory, InFlightResult, InFlightSample } from './measure-in-flight.ts';
import type { SlowSideName } from './slow-stage.ts';

export interface InFlightResults {
  readonly lasting: readonly InFlightResult[];
  readonly bursts: readonly BurstResult[];
  readonly memory: readonly HeldMemory[];
}

const WORKERS = 2;
const MIB = 2 ** 20;

/** Verdicts on the cases that were measured. */
export function judgeInFlight({ lasting, bursts, memory }: InFlightResults): readonly Verdict[] {
  return [...lasting.flatMap(judgeLasting), ...bursts.map(judgeBurst), ...judgeMemory(memory)];
}

function judgeLasting(result: InFlightResult): readonly Verdict[] {
  const { subject, title } = result;
  const bar = (text: string): string => `${title}: ${text}`;
  const part = subject.endpoint === 'stream' ? 10 : 3;
  const failed = result.samples.svc?.reduce((sum, one) => sum + one.failed, 0);
  const verdicts = [
    atMost(bar('no request without its answer'), failed, 0),
    atMost(bar(`at most 1/${part} of the peer`), ratioToPeer(result), 1 / part),
  ];
  return subject.name === 'in-flight' ? verdicts : [...verdicts, ...judgeTimes(result, bar)];
}

/** Verdicts on the times, and on what a request takes besides. */
function judgeTimes(result: InFlightResult, bar: (text: string) => string): readonly Verdict[] {
  const { subject } = result;
  const of = (pick: (sample: InFlightSample) => number): number | undefined => middle(result, 'svc', pick);
  const delay = modelMs(subject);
  const p50 = of((one) => one.p50 / delay);
  const verdicts = [atMost(bar('p50 at most 1.05 times the model'), p50, 1.05)];
  if (subject.endpoint === 'stream') {
    const kib = of((one) => one.bytesPerRequest / 1024);
    return [
      ...verdicts,
      atMost(
        bar('delay of a delta, p99, at most 60 ms'),
        of((one) => one.deltaP99),
        60,
      ),
      atMost(bar('at most 60 KiB for each stream'), kib, 60),
    ];
  }
  const share = of((one) => (one.requestsPerSecond * delay) / 1000 / subject.inFlight);
  const connections = of((one) => one.connections);
  return [
    ...verdicts,
    atLeast(bar('at least 97 % of the throughput that the model allows'), share, 0.97),
    atMost(bar('connections, one for 50 calls and one per worker'), connections, subject.inFlight / 50 + WORKERS),
  ];
}

function judgeBurst({ subject, title, samples }: BurstResult): Verdict {
  const slowest = samples.svc?.map((one) => one.slowest / modelMs(subject));
  const measured = slowest === undefined ? undefined : median(slowest);
  return atMost(`${title}: the slowest call of the first 2 s, at most twice the model`, measured, 2);
}

function judgeMemory(memory: readonly HeldMemory[]): readonly Verdict[] {
  if (memory.length === 0) return [];
  const svc = memory.find(({ side }) => side === 'svc');
  return [
    atMost('memory of all processes when idle: at most 130 MiB', svc && svc.idle / MIB, 130),
    atMost('memory of a call in flight: at most 60 KiB', svc && svc.perCall / 1024, 60),
  ];
}

/** Median over the pairs of svc's CPU per request divided by the peer's in the same pair. */
function ratioToPeer({ samples: { svc, baml } }: InFlightResult): number | undefined {
  if (svc === undefined || baml === undefined) return undefined;
  return median(svc.map((one, pair) => one.cpuMicrosPerRequest / (baml[pair]?.cpuMicrosPerRequest ?? Number.NaN)));
}

/** Median of a figure over the samples of a side; undefined if it was not measured. */
function middle(
  { samples }: InFlightResult,
  side: SlowSideName,
  pick: (sample: InFlightSample) => number,
): number | undefined {
  const taken = samples[side];
  return taken === undefined ? undefined : median(taken.map(pick));
}

function atMost(bar: string, measured: number | undefined, limit: number): Verdict {
  return { bar, measured, limit, holds: measured === undefined ? undefined : measured <= limit };
}

function atLeast(bar: string, measured: number | undefined, limit: number): Verdict {
  return { bar, measured, limit, holds: measured === undefined ? undefined : measured >= limit };
}
