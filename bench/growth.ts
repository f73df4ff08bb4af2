// Entry file: CPU time and steps of replies that are hard to coerce, by their size, whole and in deltas.
import { StepBudget } from '../src/runtime/reply/coerce/step-budget.ts';
import type { ReplyParser } from '../src/runtime/reply/reply-parser.ts';
import { PATTERNS, SCHEMAS, type Pattern, type Schema } from '../test/runtime/reply/growth-cases.ts';
import {
  HOSTILE_DEFINITIONS,
  PAIRS,
  PAIR_TYPES,
  SPOILED,
  spoiledText,
} from '../test/runtime/reply/hostile-patterns.ts';
import { parserOf } from '../test/runtime/reply/parser-of.ts';
import { cpuOnce } from './cpu-time.ts';
import { number, table, writeResults } from './report.ts';

const SIZES = [7_000, 29_000, 58_000, 116_000];
const LARGE = 1_000_000;
/** The replies that are also measured at that size, and in deltas. */
const MORE: ReadonlySet<string> = new Set(['valid values', 'empty lists', 'chains of known keys']);
/** Pairs of marks are many: these sizes keep a run under a quarter of an hour. */
const PAIR_SIZES = [4_000, 8_000, 16_000, 32_000];
/** Twice the size may take at most this multiple of the CPU time, where no steps are counted. */
const MAX_CPU_GROWTH = 3;
/** A row above that is measured again, so that a pause of the machine is not taken for growth: the least times count. */
const ATTEMPTS = 6;
/** UTF-16 units of a delta. A partial is taken after each. */
const DELTA = 200;
/** A run that takes more CPU microseconds is not repeated. */
const SHORT_RUN = 20_000;
/** The rows of the table, from the slowest. */
const SHOWN = 60;
const SHOWN_PAIRS = 20;
/** Twice the size may take at most this multiple of the steps, on average over the sizes; 4 is quadratic. */
const MAX_GROWTH = 2.2;
/** Fewer steps say nothing about their growth. */
const FEW_STEPS = 20_000;

interface Run {
  readonly size: number;
  readonly cpuMicroseconds: number;
  /** As the budget counts them. */
  readonly steps: number;
}

interface Row {
  readonly schema: string;
  readonly pattern: string;
  readonly way: 'whole' | 'stream';
  readonly runs: readonly Run[];
  /** The outcome at the largest size. */
  readonly outcome: string;
  /** CPU time and steps at twice the size, on average, as a multiple: 2 is linear. */
  readonly cpuGrowth: number;
  readonly stepGrowth: number;
}

type Read = (text: string) => ReturnType<ReplyParser['parse']>;

/** An argument limits the run to the types whose names contain it; such a run writes no results. */
function main(only: string | undefined): void {
  const rows = SCHEMAS.filter(({ name }) => name.includes(only ?? '')).flatMap((schema) => rowsOf(schema));
  const marks = [...pairRows(only ?? ''), ...spoiledRows(only ?? '')];
  console.log(growthTable(rows, [...SIZES, LARGE]));
  console.log(`\n${marks.length} texts of marks, those that grow most:\n`);
  console.log(growthTable(marks.toSorted((a, b) => b.cpuGrowth - a.cpuGrowth).slice(0, SHOWN_PAIRS), PAIR_SIZES));
  const [worst] = rows.toSorted((a, b) => b.stepGrowth - a.stepGrowth);
  const verdict = worst === undefined || worst.stepGrowth <= MAX_GROWTH ? 'yes' : 'NO';
  const found = worst === undefined ? '' : `${number(worst.stepGrowth)} (${worst.schema}, ${worst.pattern})`;
  console.log(`\nat most ${MAX_GROWTH} times the steps for twice the size: ${found}: ${verdict}`);
  const grown = marks.filter(({ cpuGrowth }) => cpuGrowth > MAX_CPU_GROWTH);
  console.log(
    `at most ${MAX_CPU_GROWTH} times the CPU time for twice the size, of ${marks.length} texts of marks: ${grown.length === 0 ? 'yes' : `NO, ${grown.length} take more`}`,
  );
  if (only === undefined) console.log(writeResults({ rows: [...rows, ...grown] }, 'growth'));
}

function pairRows(only: string): readonly Row[] {
  return PAIR_TYPES.filter((type) => type.includes(only)).flatMap((type) => {
    const parser = parserOf(type, HOSTILE_DEFINITIONS);
    return PAIRS.map(({ name, repeat }) => marksRow(type, name, (size) => parser.parse(repeat(size))));
  });
}

function spoiledRows(only: string): readonly Row[] {
  return SPOILED.filter(({ type }) => type.includes(only)).map((spoiled) => {
    const { type, start, part, end } = spoiled;
    const parser = parserOf(type, HOSTILE_DEFINITIONS);
    const name = `${JSON.stringify(part)} between ${JSON.stringify(start)} and ${JSON.stringify(end)}`;
    return marksRow(type, name, (size) => parser.parse(spoiledText(spoiled, size), true));
  });
}

function marksRow(type: string, pattern: string, read: (size: number) => ReturnType<Read>): Row {
  let runs: readonly Run[] = PAIR_SIZES.map((size) => ({ size, cpuMicroseconds: Infinity, steps: 0 }));
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    runs = runs.map(({ size, cpuMicroseconds }) => {
      const before = StepBudget.spent;
      const cpu = cpuOnce(() => read(size));
      return { size, cpuMicroseconds: Math.min(cpuMicroseconds, cpu), steps: Math.round(StepBudget.spent - before) };
    });
    if (growthOf(runs).cpuGrowth <= MAX_CPU_GROWTH) break;
  }
  const outcome = outcomeOf(read(PAIR_SIZES[0] ?? 0));
  return { schema: type, pattern, way: 'whole', runs, outcome, ...growthOf(runs) };
}

function rowsOf(schema: Schema): readonly Row[] {
  const parser = parserOf(schema.returns, schema.definitions);
  return PATTERNS.flatMap((pattern) => {
    const whole = measure(schema, pattern, 'whole', (text) => parser.parse(text));
    return MORE.has(pattern.name)
      ? [whole, measure(schema, pattern, 'stream', (text) => stream(parser, text))]
      : [whole];
  });
}

function measure(schema: Schema, pattern: Pattern, way: Row['way'], read: Read): Row {
  read(pattern.reply(schema, 4_000));
  let outcome = '';
  const sizes = way === 'whole' && MORE.has(pattern.name) ? [...SIZES, LARGE] : SIZES;
  const runs = sizes.map((size) => {
    const text = pattern.reply(schema, size);
    const before = StepBudget.spent;
    let cpuMicroseconds = cpuOnce(() => (outcome = outcomeOf(read(text))));
    const steps = Math.round(StepBudget.spent - before);
    for (let turn = 0; turn < 2 && cpuMicroseconds < SHORT_RUN; turn += 1) {
      cpuMicroseconds = Math.min(
        cpuMicroseconds,
        cpuOnce(() => read(text)),
      );
    }
    return { size: text.length, cpuMicroseconds, steps };
  });
  return { schema: schema.name, pattern: pattern.name, way, runs, outcome, ...growthOf(runs) };
}

/** The growth between the second and the last size: the first is too short for the clock. */
function growthOf(runs: readonly Run[]): Pick<Row, 'cpuGrowth' | 'stepGrowth'> {
  const from = runs[1];
  const to = runs.at(-1);
  if (from === undefined || to === undefined) return { cpuGrowth: 1, stepGrowth: 1 };
  const doublings = Math.log2(to.size / from.size);
  return {
    cpuGrowth: (to.cpuMicroseconds / from.cpuMicroseconds) ** (1 / doublings),
    stepGrowth: from.steps < FEW_STEPS ? 1 : (to.steps / from.steps) ** (1 / doublings),
  };
}

function stream(parser: ReplyParser, text: string): ReturnType<Read> {
  const open = parser.openStream();
  for (let at = 0; at < text.length; at += DELTA) {
    open.push(text.slice(at, at + DELTA));
    open.takePartial();
  }
  return open.finish();
}

function outcomeOf(outcome: ReturnType<Read>): string {
  if (outcome.ok) return `${outcome.value.json.length} characters`;
  return outcome.failure.message.includes('more work') ? 'refused: too much work' : 'refused';
}

function growthTable(rows: readonly Row[], sizes: readonly number[]): string {
  const kilobytes = sizes.map((size) => `${size / 1000} KB`);
  const head = [
    'type',
    'reply',
    'way',
    ...kilobytes.map((size) => `${size}, ms`),
    'CPU x2',
    'steps x2',
    'steps/char',
    'outcome',
  ];
  const slowest = rows.toSorted((a, b) => costPerCharacter(b) - costPerCharacter(a)).slice(0, SHOWN);
  const lines = slowest.map(({ schema, pattern, way, runs, cpuGrowth, stepGrowth, outcome }) => [
    schema,
    pattern,
    way,
    ...kilobytes.map((_, at) => (runs[at] === undefined ? '' : number(runs[at].cpuMicroseconds / 1000))),
    number(cpuGrowth),
    number(stepGrowth),
    number((runs.at(-1)?.steps ?? 0) / (runs.at(-1)?.size ?? 1)),
    outcome,
  ]);
  return table([head, ...lines]);
}

function costPerCharacter({ runs }: Row): number {
  return Math.max(...runs.map(({ cpuMicroseconds, size }) => cpuMicroseconds / size));
}

main(process.argv[2]);
