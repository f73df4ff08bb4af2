import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../architecture/source-files.ts';

const FOLDER = 'bench/results';

/** The two programs that the pages compare. */
type Pair = Readonly<Record<'svc' | 'baml', number>>;

interface Samples {
  readonly title: string;
  readonly samples: Readonly<
    Partial<Record<'svc' | 'baml', ReadonlyArray<Readonly<{ cpuMicrosPerRequest: number; connections?: number }>>>>
  >;
}

interface MainResults {
  readonly results: readonly Samples[];
  readonly lasting: readonly Samples[];
  readonly memory: ReadonlyArray<Readonly<{ side: 'svc' | 'baml'; idle: number; perCall: number }>>;
  /** Results before 2026-11-29 have none. */
  readonly latency?: Readonly<{
    highestRates: ReadonlyArray<Readonly<{ side: string; limitMs: number; perSecond: number }>>;
  }>;
}

interface RecoverResults {
  readonly clear: Readonly<Record<'svc' | 'baml', Readonly<{ replies: number; exact: number }>>>;
}

interface StartupResults {
  readonly results: ReadonlyArray<Readonly<{ side: 'svc' | 'baml'; files: number; medianMs: number }>>;
}

/** The newest result file of a kind of run; without a kind, of `npm run bench`. */
function newest(kind?: string): string {
  const ending = kind === undefined ? '' : `-${kind}`;
  const names = readdirSync(join(ROOT, FOLDER)).filter((name) =>
    new RegExp(String.raw`^\d{4}-\d\d-\d\d${ending}\.json$`, 'u').test(name),
  );
  const last = names.toSorted().at(-1);
  if (last === undefined) throw new Error(`${FOLDER} has no results of "${kind ?? 'bench'}"`);
  return `${FOLDER}/${last}`;
}

function read(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

/** The files from which the figures come. */
export const SOURCES = { main: newest(), recover: newest('recover'), startup: newest('startup') };

const main = read(SOURCES.main) as MainResults;
const recover = read(SOURCES.recover) as RecoverResults;
const startup = read(SOURCES.startup) as StartupResults;

/** One line of a table: what was measured, and the value of each program. */
export type FigureRow = readonly [what: string, svc: string, baml: string];

/** The rows of the README. */
export function mainFigures(): readonly FigureRow[] {
  return [
    row('CPU time of a call, reply of 150 bytes', cpuTime('/call, 150-byte answer, c=32'), duration),
    row('CPU time of a call, reply of 30 KB', cpuTime('/call, 30 KB answer, c=8'), duration),
    row('CPU time of a stream, 30 KB, one delta per millisecond', cpuTime('/stream, 30 KB, one delta per ms, c=2'), duration),
    row('damaged replies that are read exactly', shareOfExact(), percent),
    row('memory of an idle server', memory('idle'), size),
  ];
}

/** The rows of docs/comparison.md. */
export function allFigures(): readonly FigureRow[] {
  return [
    ...mainFigures(),
    row('CPU time of a stream, 30 KB in deltas of 4 characters at once', cpuTime('/stream, 30 KB of deltas at once, c=2'), duration),
    row('CPU time of a call, 1,000 in flight, model takes 1 s', cpuTime('/call, plaintext, 1000 in flight'), duration),
    row('the same over TLS', cpuTime('/call, h2 over TLS, 1000 in flight'), duration),
    row('connections to the model for these 1,000 calls over TLS', connections('/call, h2 over TLS, 1000 in flight'), count),
    row('CPU time of a stream, 1,000 at once, 54 deltas, 20 ms apart', cpuTime('/stream, plaintext, 1000 in flight'), duration),
    ...highestRates(),
    row('memory of each call in flight', memory('perCall'), size),
    row('from the command to the first answered call, 1 definition file', firstCall(1), duration),
    row('the same, 100 definition files', firstCall(100), duration),
  ];
}

function row(what: string, { svc, baml }: Pair, format: (value: number) => string): FigureRow {
  return [what, format(svc), format(baml)];
}

function cpuTime(title: string): Pair {
  return pairOf(title, (sample) => sample.cpuMicrosPerRequest);
}

function connections(title: string): Pair {
  return pairOf(title, (sample) => sample.connections ?? 0);
}

function pairOf(title: string, pick: (sample: { cpuMicrosPerRequest: number; connections?: number }) => number): Pair {
  const found = [...main.results, ...main.lasting].find((result) => result.title === title);
  const { svc, baml } = found?.samples ?? {};
  if (svc === undefined || baml === undefined) throw new Error(`${SOURCES.main} has no pair of "${title}"`);
  return { svc: median(svc.map(pick)), baml: median(baml.map(pick)) };
}

/** Calls per second. */
function highestRates(): readonly FigureRow[] {
  const rates = main.latency?.highestRates ?? [];
  return rates
    .filter(({ side }) => side === 'svc')
    .map(({ limitMs, perSecond }) => {
      const peer = rates.find((one) => one.side === 'baml' && one.limitMs === limitMs)?.perSecond ?? Number.NaN;
      const what = `calls per second with a p99 of less than ${limitMs} ms besides the model`;
      return row(what, { svc: perSecond, baml: peer }, count);
    });
}

function memory(kind: 'idle' | 'perCall'): Pair {
  const of = (side: string): number => main.memory.find((one) => one.side === side)?.[kind] ?? Number.NaN;
  return { svc: of('svc'), baml: of('baml') };
}

function shareOfExact(): Pair {
  const { svc, baml } = recover.clear;
  return { svc: svc.exact / svc.replies, baml: baml.exact / baml.replies };
}

/** In microseconds, as the other durations. */
function firstCall(files: number): Pair {
  const of = (side: string): number =>
    1000 * (startup.results.find((one) => one.side === side && one.files === files)?.medianMs ?? Number.NaN);
  return { svc: of('svc'), baml: of('baml') };
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Three significant digits are more than the machines agree on. */
function digits(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US');
}

function duration(micros: number): string {
  if (micros < 1000) return `${digits(micros)} µs`;
  return micros < 1_000_000 ? `${digits(micros / 1000)} ms` : `${digits(micros / 1_000_000)} s`;
}

function size(bytes: number): string {
  return bytes < 2 ** 20 ? `${digits(bytes / 2 ** 10)} KiB` : `${digits(bytes / 2 ** 20)} MiB`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function percent(share: number): string {
  return `${digits(100 * share)} %`;
}
