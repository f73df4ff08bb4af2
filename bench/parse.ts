// Entry file: CPU time of parsing replies, whole and in deltas, next to other parsers on the same texts.
import { isDeepStrictEqual } from 'node:util';
import type { ReplyParser } from '../src/runtime/reply/reply-parser.ts';
import { compileText, parserOfFunction } from './compile-text.ts';
import { compareCpu, cpuOnce } from './cpu-time.ts';
import { isValue, otherParsers, type OtherParser } from './other-parsers.ts';
import { makeTeam, PARSE_DEFINITIONS, spell, SPELLINGS, type Spelling, type Team } from './parse-inputs.ts';
import { number, table, writeResults } from './report.ts';

const SIZES = [3_000, 30_000, 300_000, 1_000_000, 3_000_000];
/** The length of a delta: about a token. */
const DELTA = 4;
/** The deltas for each partial: one partial per 50 ms at 4,000 deltas per second, up to a maximum in all. */
const DELTAS_PER_PARTIAL = 200;
const MAX_PARTIALS = 100;
const DELTA_SIZES = [1, 4, 50, 1000];
/** Other parsers get no text whose run would take more CPU microseconds if their time grew with its square. */
const LONGEST_RUN = 30_000_000;
/** A run that takes more CPU microseconds is not repeated. */
const SHORT_RUN = 100_000;

const BAR_MB_PER_SECOND = 80;
const BAR_STREAM_RATIO = 3;
/** Most replies of models are smaller. */
const USUAL_BYTES = 100_000;

interface Row {
  readonly spelling: Spelling;
  readonly bytes: number;
  /** CPU microseconds of one reply. */
  readonly oneShot: number;
  readonly deltas: number;
  /** With partials, taken as they are. */
  readonly taken: number;
  /** With partials that are turned into bytes, as a server does. */
  readonly partials: number;
  /** Of the clean spelling. */
  readonly jsonParse: number;
  /** CPU microseconds by the name of the parser, or the reason why there are none. */
  readonly others: Readonly<Record<string, Cost>>;
  /** The same in deltas, with as many partials as svc returned. */
  readonly otherStreams: Readonly<Record<string, Cost>>;
}

function main(): void {
  const parser = parserOfFunction(compileText(PARSE_DEFINITIONS), 'Extract');
  warmUp(parser);
  const others = otherParsers().map((other) => new Rival(other));
  const rows = SIZES.flatMap((size) => {
    const team = makeTeam(size);
    return SPELLINGS.map((spelling) => measureRow(parser, others, { team, spelling, text: spell(team, spelling) }));
  });
  console.log(`${costTable(rows)}\n\n${otherTable(rows, others)}\n\n${growthTable(rows)}`);
  const sizes = DELTA_SIZES.map((size) => [size, deltaRatio(parser, size)] as const);
  console.log(`\nA stream of 30 KB (fenced), as a multiple of the one-shot parse, by the size of its deltas:`);
  console.log(sizes.map(([size, ratio]) => `${size}: ${number(ratio)}`).join('   '));
  const verdicts = judge(rows, sizes);
  console.log(`\n${table(verdicts.map(({ bar, measured, holds }) => [bar, number(measured), holds ? 'yes' : 'NO']))}`);
  console.log(writeResults({ rows, deltaSizes: sizes, verdicts }, 'parse'));
}

/** Runs the parser until the engine has compiled its hot code. */
function warmUp(parser: ReplyParser): void {
  const team = makeTeam(30_000);
  for (let round = 0; round < 50; round += 1) {
    for (const spelling of SPELLINGS) {
      parser.parse(spell(team, spelling));
      stream(parser, spell(team, spelling), { delta: DELTA, perPartial: DELTAS_PER_PARTIAL });
    }
  }
}

interface Subject {
  readonly team: Team;
  readonly spelling: Spelling;
  readonly text: string;
}

function measureRow(parser: ReplyParser, others: readonly Rival[], subject: Subject): Row {
  const { spelling, text } = subject;
  checkAnswer(parser, subject);
  const perPartial = Math.max(DELTAS_PER_PARTIAL, text.length / DELTA / MAX_PARTIALS);
  const own = compareCpu({
    oneShot: () => parser.parse(text),
    deltas: () => stream(parser, text, { delta: DELTA, perPartial: Infinity }),
    taken: () => stream(parser, text, { delta: DELTA, perPartial }, ignore),
    partials: () => stream(parser, text, { delta: DELTA, perPartial }),
    jsonParse: () => (spelling === 'clean' ? (JSON.parse(text) as unknown) : undefined),
  });
  const costs = others.map((other) => [other.name, other.cost(subject)] as const);
  const streams = others.map((other) => [other.name, other.streamCost(subject, perPartial * DELTA)] as const);
  return {
    spelling,
    bytes: text.length,
    ...own,
    others: Object.fromEntries(costs),
    otherStreams: Object.fromEntries(streams),
  };
}

type Cost = number | 'wrong value' | 'not run' | undefined;

/** Another parser and its time for the texts so far. The time of some grows with the square of the text. */
class Rival {
  readonly #other: OtherParser;
  #perSquare = 0;
  #last: Cost;

  constructor(other: OtherParser) {
    this.#other = other;
  }

  get name(): string {
    return this.#other.name;
  }

  cost({ text, team }: Subject): Cost {
    this.#last = this.#measure(text, team);
    if (typeof this.#last === 'number') this.#perSquare = Math.max(this.#last / text.length ** 2, 0);
    return this.#last;
  }

  /** Parses all of the text so far for every partial, as these parsers keep no state, and the whole at the end. */
  streamCost({ text }: Subject, step: number): Cost {
    const { parse, parsePartial } = this.#other;
    if (parsePartial === undefined || typeof this.#last !== 'number') return undefined;
    if ((this.#last * text.length) / step > LONGEST_RUN) return 'not run';
    return cpuOnce(() => {
      for (let end = step; end < text.length; end += step) parsePartial(text.slice(0, end));
      parse(text);
    });
  }

  #measure(text: string, team: Team): Cost {
    if (this.#perSquare * text.length ** 2 > LONGEST_RUN) return 'not run';
    let value: unknown;
    const once = cpuOnce(() => (value = attempt(() => this.#other.parse(text))));
    if (!isValue(value, team)) return 'wrong value';
    return once > SHORT_RUN ? once : compareCpu({ run: () => this.#other.parse(text) }).run;
  }
}

function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Writing a partial takes time in proportion to its length, whatever is new in it. A server writes its parts one after the other. */
function write(partial: readonly string[]): void {
  for (const part of partial) Buffer.byteLength(part);
}

function ignore(): void {}

interface StreamShape {
  /** The length of a delta. */
  readonly delta: number;
  readonly perPartial: number;
}

function stream(parser: ReplyParser, text: string, { delta, perPartial }: StreamShape, take = write): void {
  const reply = parser.openStream();
  let due = perPartial;
  let count = 0;
  for (let at = 0; at < text.length; at += delta) {
    reply.push(text.slice(at, at + delta));
    count += 1;
    if (count >= due) {
      due += perPartial;
      take(reply.takePartial() ?? []);
    }
  }
  if (!reply.finish().ok) throw new Error('the stream did not end in a value');
}

/** Takes one partial for each 800 characters, whatever the size of the deltas. */
function deltaRatio(parser: ReplyParser, delta: number): number {
  const text = spell(makeTeam(30_000), 'fenced');
  const perPartial = Math.max(1, (DELTAS_PER_PARTIAL * DELTA) / delta);
  const { oneShot, streamed } = compareCpu({
    oneShot: () => parser.parse(text),
    streamed: () => stream(parser, text, { delta, perPartial }),
  });
  return streamed / oneShot;
}

function checkAnswer(parser: ReplyParser, { text, team, spelling: name }: Subject): void {
  const outcome = parser.parse(text);
  if (!outcome.ok) throw new Error(`${name}: ${outcome.failure.message}`);
  if (!isDeepStrictEqual(outcome.value.value, team)) throw new Error(`${name}: wrong value`);
}

// --- tables ---------------------------------------------------------------------------------------------------------

function costTable(rows: readonly Row[]): string {
  const head = [
    'reply',
    'bytes',
    'one shot µs',
    'MB/s',
    'deltas',
    'ratio',
    'partials',
    'ratio',
    'written',
    'ratio',
    'JSON.parse',
  ];
  const cells = rows.map((row) => [
    row.spelling,
    String(row.bytes),
    number(row.oneShot),
    number(row.bytes / row.oneShot),
    number(row.deltas),
    number(row.deltas / row.oneShot),
    number(row.taken),
    number(row.taken / row.oneShot),
    number(row.partials),
    number(row.partials / row.oneShot),
    row.spelling === 'clean' ? number(row.jsonParse) : '',
  ]);
  return table([head, ...cells]);
}

/** The time of other parsers for the same text, also as a multiple of svc. */
function otherTable(rows: readonly Row[], others: readonly Rival[]): string {
  const head = [
    'reply',
    'bytes',
    ...others.map(({ name }) => `${name} µs`),
    ...others.map(({ name }) => `${name} streamed µs`),
  ];
  const cells = rows.map((row) => [
    row.spelling,
    String(row.bytes),
    ...others.map(({ name }) => beside(row.others[name], row.oneShot)),
    ...others.map(({ name }) => beside(row.otherStreams[name], row.partials)),
  ]);
  return table([head, ...cells]);
}

function beside(cost: Cost, own: number): string {
  if (typeof cost !== 'number') return cost ?? '';
  return `${number(cost)} (x${number(cost / own)})`;
}

/** CPU nanoseconds per byte: a level line means linear time. */
function growthTable(rows: readonly Row[]): string {
  const of = (spelling: Spelling, pick: (row: Row) => number): readonly string[] =>
    rows.filter((row) => row.spelling === spelling).map((row) => number((pick(row) / row.bytes) * 1000));
  const head = ['ns per byte at', ...SIZES.map((size) => `${size / 1000} KB`)];
  const lines = SPELLINGS.flatMap((spelling) => [
    [`${spelling}, one shot`, ...of(spelling, (row) => row.oneShot)],
    [`${spelling}, in deltas`, ...of(spelling, (row) => row.deltas)],
  ]);
  return table([head, ...lines]);
}

interface Verdict {
  readonly bar: string;
  readonly measured: number;
  readonly holds: boolean;
}

function judge(rows: readonly Row[], sizes: readonly (readonly [number, number])[]): readonly Verdict[] {
  const broken = rows.filter((row) => row.spelling === 'broken').map((row) => row.bytes / row.oneShot);
  const usual = rows.filter((row) => row.bytes < USUAL_BYTES);
  const large = rows.filter((row) => row.bytes >= USUAL_BYTES);
  const ratio = (of: readonly Row[], pick: (row: Row) => number): number =>
    Math.max(...of.map((row) => pick(row) / row.oneShot));
  const ratios: Readonly<Record<string, number>> = {
    'a stream without partials, any size': ratio(rows, (row) => row.deltas),
    'a stream with partials, up to 100 KB': ratio(usual, (row) => row.taken),
    'a stream with partials, above': ratio(large, (row) => row.taken),
    'a stream with partials that are written, up to 100 KB': ratio(usual, (row) => row.partials),
    'a stream with partials that are written, above': ratio(large, (row) => row.partials),
    'a stream of 30 KB with partials that are written, any size of deltas': Math.max(...sizes.map(([, each]) => each)),
  };
  const slowest = Math.min(...broken);
  return [
    {
      bar: `broken JSON, MB/s, any size: at least ${BAR_MB_PER_SECOND}`,
      measured: slowest,
      holds: slowest >= BAR_MB_PER_SECOND,
    },
    ...Object.entries(ratios).map(([bar, measured]) => ({
      bar: `${bar}: at most ${BAR_STREAM_RATIO} one-shot parses`,
      measured,
      holds: measured <= BAR_STREAM_RATIO,
    })),
  ];
}

main();
