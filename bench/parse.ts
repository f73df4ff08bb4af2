// Entry file: CPU time of parsing replies, whole and in pieces, beside other parsers on the same texts.
import { isDeepStrictEqual } from 'node:util';
import { compileCondition } from '../src/runtime/prompt/compile-condition.ts';
import { compile } from '../src/compiler/compile.ts';
import { SourceFile } from '../src/diagnostics/source-file.ts';
import { createReplyParser } from '../src/runtime/reply/create-reply-parser.ts';
import type { ReplyParser } from '../src/runtime/reply/reply-parser.ts';
import { indexDefinitions } from '../src/schema/definition-index.ts';
import { compareCpu, cpuOnce } from './cpu-time.ts';
import { isValue, otherParsers, type OtherParser } from './other-parsers.ts';
import { makeTeam, PARSE_DEFINITIONS, spell, SPELLINGS, type Spelling, type Team } from './parse-inputs.ts';
import { number, table, writeResults } from './report.ts';

const SIZES = [3_000, 30_000, 300_000, 1_000_000, 3_000_000];
/** Pieces as long as a token. */
const PIECE = 4;
/** A partial for every so many pieces: one each 50 ms at 4,000 pieces a second; but no more than so many in all. */
const PIECES_PER_PARTIAL = 200;
const MAX_PARTIALS = 100;
const PIECE_SIZES = [1, 4, 50, 1000];
/** Other parsers get no text for which a run would take longer (CPU microseconds), if their time grew with its square. */
const LONGEST_RUN = 30_000_000;
/** What takes longer than this is run once. */
const SHORT_RUN = 100_000;

const BAR_MB_PER_SECOND = 60;
const BAR_STREAM_RATIO = 3;
/** Replies of models are smaller, but for a few. */
const USUAL_BYTES = 100_000;

interface Row {
  readonly spelling: Spelling;
  readonly bytes: number;
  /** CPU microseconds of one reply. */
  readonly oneShot: number;
  readonly pieces: number;
  /** With partials, taken as they are. */
  readonly taken: number;
  /** With partials that are turned into bytes, as a server does. */
  readonly partials: number;
  /** Of the clean spelling. */
  readonly jsonParse: number;
  /** By the name of the parser: CPU microseconds, or why there are none. */
  readonly others: Readonly<Record<string, Cost>>;
  /** The same in pieces, with as many partials as svc gave. */
  readonly otherStreams: Readonly<Record<string, Cost>>;
}

function main(): void {
  const parser = parserOfDefinitions();
  warmUp(parser);
  const others = otherParsers().map((other) => new Rival(other));
  const rows = SIZES.flatMap((size) => {
    const team = makeTeam(size);
    return SPELLINGS.map((spelling) => measureRow(parser, others, { team, spelling, text: spell(team, spelling) }));
  });
  console.log(`${costTable(rows)}\n\n${otherTable(rows, others)}\n\n${growthTable(rows)}`);
  const sizes = PIECE_SIZES.map((size) => [size, pieceRatio(parser, size)] as const);
  console.log(`\nA stream of 30 KB (fenced), as a multiple of the one-shot parse, by the size of its pieces:`);
  console.log(sizes.map(([size, ratio]) => `${size}: ${number(ratio)}`).join('   '));
  const verdicts = judge(rows, sizes);
  console.log(`\n${table(verdicts.map(({ bar, measured, holds }) => [bar, number(measured), holds ? 'yes' : 'NO']))}`);
  console.log(writeResults({ rows, pieceSizes: sizes, verdicts }, 'parse'));
}

/** Until the engine has compiled what is hot. */
function warmUp(parser: ReplyParser): void {
  const team = makeTeam(30_000);
  for (let round = 0; round < 50; round += 1) {
    for (const spelling of SPELLINGS) {
      parser.parse(spell(team, spelling));
      stream(parser, spell(team, spelling), { piece: PIECE, perPartial: PIECES_PER_PARTIAL });
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
  const perPartial = Math.max(PIECES_PER_PARTIAL, text.length / PIECE / MAX_PARTIALS);
  const own = compareCpu({
    oneShot: () => parser.parse(text),
    pieces: () => stream(parser, text, { piece: PIECE, perPartial: Infinity }),
    taken: () => stream(parser, text, { piece: PIECE, perPartial }, ignore),
    partials: () => stream(parser, text, { piece: PIECE, perPartial }),
    jsonParse: () => (spelling === 'clean' ? (JSON.parse(text) as unknown) : undefined),
  });
  const costs = others.map((other) => [other.name, other.cost(subject)] as const);
  const streams = others.map((other) => [other.name, other.streamCost(subject, perPartial * PIECE)] as const);
  return {
    spelling,
    bytes: text.length,
    ...own,
    others: Object.fromEntries(costs),
    otherStreams: Object.fromEntries(streams),
  };
}

type Cost = number | 'wrong value' | 'not run' | undefined;

/** Another parser, and how long it took for the texts so far: of some the time grows with the square of the text. */
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

  /** All of the text so far for every partial, as these parsers keep nothing between them; and the whole at the end. */
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

/** Writing a partial costs its length, whatever is new in it. */
function write(partial: string): void {
  Buffer.byteLength(partial);
}

function ignore(): void {}

interface Pieces {
  readonly piece: number;
  readonly perPartial: number;
}

function stream(parser: ReplyParser, text: string, { piece, perPartial }: Pieces, take = write): void {
  const reply = parser.openStream();
  let due = perPartial;
  let count = 0;
  for (let at = 0; at < text.length; at += piece) {
    reply.push(text.slice(at, at + piece));
    count += 1;
    if (count >= due) {
      due += perPartial;
      take(reply.takePartial() ?? '');
    }
  }
  if (!reply.finish().ok) throw new Error('the stream did not end in a value');
}

/** With as many partials whatever the pieces: one for each 800 characters. */
function pieceRatio(parser: ReplyParser, piece: number): number {
  const text = spell(makeTeam(30_000), 'fenced');
  const perPartial = Math.max(1, (PIECES_PER_PARTIAL * PIECE) / piece);
  const { oneShot, streamed } = compareCpu({
    oneShot: () => parser.parse(text),
    streamed: () => stream(parser, text, { piece, perPartial }),
  });
  return streamed / oneShot;
}

function checkAnswer(parser: ReplyParser, { text, team, spelling: name }: Subject): void {
  const outcome = parser.parse(text);
  if (!outcome.ok) throw new Error(`${name}: ${outcome.failure.message}`);
  if (!isDeepStrictEqual(outcome.value.value, team)) throw new Error(`${name}: another value came out`);
}

function parserOfDefinitions(): ReplyParser {
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { diagnostics, program } = compile([new SourceFile('bench.baml', PARSE_DEFINITIONS)], options);
  const returns = program?.functions[0]?.returns;
  if (program === undefined || returns === undefined) throw new Error(diagnostics[0]?.message);
  return createReplyParser(returns, indexDefinitions(program), compileCondition);
}

// --- tables ---------------------------------------------------------------------------------------------------------

function costTable(rows: readonly Row[]): string {
  const head = [
    'reply',
    'bytes',
    'one shot µs',
    'MB/s',
    'pieces',
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
    number(row.pieces),
    number(row.pieces / row.oneShot),
    number(row.taken),
    number(row.taken / row.oneShot),
    number(row.partials),
    number(row.partials / row.oneShot),
    row.spelling === 'clean' ? number(row.jsonParse) : '',
  ]);
  return table([head, ...cells]);
}

/** What others take for the same text, and the same as a multiple of svc. */
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

/** CPU nanoseconds per byte: a line that stays level is linear. */
function growthTable(rows: readonly Row[]): string {
  const of = (spelling: Spelling, pick: (row: Row) => number): readonly string[] =>
    rows.filter((row) => row.spelling === spelling).map((row) => number((pick(row) / row.bytes) * 1000));
  const head = ['ns per byte at', ...SIZES.map((size) => `${size / 1000} KB`)];
  const lines = SPELLINGS.flatMap((spelling) => [
    [`${spelling}, one shot`, ...of(spelling, (row) => row.oneShot)],
    [`${spelling}, in pieces`, ...of(spelling, (row) => row.pieces)],
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
  return [
    atLeast(`broken JSON, MB/s, any size: at least ${BAR_MB_PER_SECOND}`, Math.min(...broken), BAR_MB_PER_SECOND),
    atMost(
      'a stream without partials, any size',
      ratio(rows, (row) => row.pieces),
    ),
    atMost(
      'a stream with partials, up to 100 KB',
      ratio(usual, (row) => row.taken),
    ),
    atMost(
      'a stream with partials, above',
      ratio(large, (row) => row.taken),
    ),
    atMost(
      'a stream with partials that are written, up to 100 KB',
      ratio(usual, (row) => row.partials),
    ),
    atMost(
      'a stream with partials that are written, above',
      ratio(large, (row) => row.partials),
    ),
    atMost(
      'a stream of 30 KB with partials that are written, any size of pieces',
      Math.max(...sizes.map(([, each]) => each)),
    ),
  ];
}

function atLeast(bar: string, measured: number, limit: number): Verdict {
  return { bar, measured, holds: measured >= limit };
}

function atMost(bar: string, measured: number): Verdict {
  const text = `${bar}: at most ${BAR_STREAM_RATIO} one-shot parses`;
  return { bar: text, measured, holds: measured <= BAR_STREAM_RATIO };
}

main();
