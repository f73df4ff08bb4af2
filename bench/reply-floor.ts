// Entry file: reads replies that others wrote (broken JSON of public test suites, inputs of public reports, recorded
// conformance cases, JSON texts of recorded exchanges), counts how they come out, and lists those that differ with the reason.
//
// Usage: npm run floor -- <folder with replies/, conformance/ and captures/> [--show] [--json <file>] [--against <file>]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { ACCEPTED_DIFFERENCES } from './conformance-differences.ts';
import { DIFFERENCES, type Judgement } from './reply-differences.ts';
import { replyParserOf, valueVerdict, type RecordedCase, type Verdict } from './recorded-case.ts';

/** `lossy`: another value than the expected one, with reported losses; `wrong`: without any sign of it. */
type Count = 'equal' | 'refused' | 'lossy' | 'wrong';

interface Reading {
  readonly set: string;
  readonly id: string;
  readonly count: Count;
  readonly reply: string;
  readonly got: string;
  /** The expected value. */
  readonly want: string;
}

/** A line of `replies/*.jsonl`: the type, its definitions, and what is right: `want`, one of `any`, or a refusal. */
interface ReplyCase {
  readonly id: string;
  readonly type: string;
  readonly defs: string;
  readonly text: string;
  readonly want?: unknown;
  readonly any?: readonly unknown[];
  readonly refuse?: boolean;
}

/** A line of `captures/*.jsonl`, as far as it matters here. */
interface Capture {
  readonly id: string;
  readonly arguable?: boolean;
  readonly truth?: { readonly text?: string; readonly json?: boolean };
}

/** A type that takes every JSON value. */
const ANY_JSON = 'type AnyJson = string | int | float | bool | null | AnyJson[] | map<string, AnyJson>';

const COUNTS: readonly Count[] = ['equal', 'refused', 'lossy', 'wrong'];

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { show: { type: 'boolean' }, json: { type: 'string' }, against: { type: 'string' } },
  });
  const [folder] = positionals;
  if (folder === undefined) {
    console.error('usage: npm run floor -- <folder> [--show] [--json <file>] [--against <file>]');
    return 2;
  }
  const readings = readAll(folder);
  if (values.show === true) for (const each of readings) if (each.count !== 'equal') console.log(shown(each));
  console.log(`${tableOf(readings)}\n\n${differencesOf(readings)}\n\n${streamsOf(folder)}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(readings, undefined, 1)}\n`);
  if (values.against !== undefined) console.log(changes(JSON.parse(readFileSync(values.against, 'utf8')), readings));
  return 0;
}

function readAll(folder: string): readonly Reading[] {
  const cases = JSON.parse(readFileSync(join(folder, 'conformance/cases.json'), 'utf8')) as readonly RecordedCase[];
  const captures = readdirSync(join(folder, 'captures')).filter((file) => file.endsWith('.jsonl'));
  return [
    ...['suites', 'reports'].flatMap((set) =>
      linesOf(join(folder, `replies/${set}.jsonl`)).map((each) => readReply(set, each as ReplyCase)),
    ),
    ...cases.map((each) => readRecorded(each)),
    ...captures.flatMap((file) => readCaptures(linesOf(join(folder, 'captures', file)) as readonly Capture[])),
  ];
}

function linesOf(file: string): readonly unknown[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): unknown => JSON.parse(line));
}

function readReply(set: string, each: ReplyCase): Reading {
  const { id, text } = each;
  const parser = replyParserOf(each.defs, each.type);
  const wanted = each.any ?? ('want' in each ? [each.want] : []);
  const want = each.refuse === true ? 'refused' : JSON.stringify(wanted[0]);
  if (typeof parser === 'string') return { set, id, count: 'refused', reply: text, got: parser, want };
  const verdict = valueVerdict({ id, schema: each.defs, target: each.type, raw: text, ok: true }, parser);
  const agrees =
    verdict.refused === true
      ? each.refuse === true
      : wanted.some((value) => isDeepStrictEqual(value, JSON.parse(verdict.got)));
  return { set, id, count: countOf({ ...verdict, agrees }), reply: text, got: verdict.got, want };
}

function readRecorded(each: RecordedCase): Reading {
  const parser = replyParserOf(each.schema, each.target);
  const verdict =
    typeof parser === 'string' ? { agrees: false, got: parser, refused: true } : valueVerdict(each, parser);
  return {
    set: 'conformance',
    id: each.id,
    count: countOf(verdict),
    reply: each.raw,
    got: verdict.got,
    want: wantedOf(each),
  };
}

function wantedOf({ fails, expect }: RecordedCase): string {
  return fails === true ? 'refused' : (JSON.stringify(expect) ?? 'any value');
}

function readCaptures(captures: readonly Capture[]): readonly Reading[] {
  const replies = captures.flatMap(({ id, arguable, truth }) =>
    truth?.json === true && truth.text !== undefined && arguable !== true ? [{ id, text: truth.text }] : [],
  );
  return replies.map(({ id, text }) => {
    const want: unknown = JSON.parse(text);
    return readReply('captures', { id, text, want, defs: ANY_JSON, type: 'AnyJson' });
  });
}

function countOf({ agrees, refused, lossy }: Verdict): Count {
  if (agrees) return 'equal';
  if (refused === true) return 'refused';
  return lossy === true ? 'lossy' : 'wrong';
}

// --- streams -------------------------------------------------------------------------------------------------------------

/** Reads each reply of `replies/` character by character: its stream ends as its call does, and partials show the beginning of the value. */
function streamsOf(folder: string): string {
  const cases = ['suites', 'reports'].flatMap(
    (set) => linesOf(join(folder, `replies/${set}.jsonl`)) as readonly ReplyCase[],
  );
  let [read, otherEnds] = [0, 0];
  const takenBack: string[] = [];
  for (const { id, defs, type, text } of cases) {
    const parser = replyParserOf(defs, type);
    if (typeof parser === 'string' || text.length > LONGEST_STREAM) continue;
    read += 1;
    const partials: string[] = [];
    const stream = parser.openStream();
    for (const character of text) {
      stream.push(character);
      const partial = stream.takePartial();
      if (partial !== undefined) partials.push(partial.join(''));
    }
    const [end, whole] = [stream.finish(), parser.parse(text)];
    if (JSON.stringify(end) !== JSON.stringify(whole)) otherEnds += 1;
    if (end.ok && partials.some((partial) => !isBeginning(JSON.parse(partial), end.value.value))) takenBack.push(id);
  }
  const list = takenBack.length === 0 ? '' : `: ${takenBack.join(', ')}`;
  return `${read} replies read as streams: ${otherEnds} end otherwise than their call, ${takenBack.length} show what the value takes back${list}`;
}

/** Longer replies are read in deltas by `npm run growth`. */
const LONGEST_STREAM = 5000;

/** True if a value can grow into another: strings and lists get longer, nulls become values. */
function isBeginning(partial: unknown, value: unknown): boolean {
  if (partial === null) return true;
  if (typeof partial === 'string') return typeof value === 'string' && value.startsWith(partial);
  if (typeof partial !== 'object') return partial === value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(partial).every(([key, member]) =>
    isBeginning(member, (value as Readonly<Record<string, unknown>>)[key]),
  );
}

// --- the report ----------------------------------------------------------------------------------------------------------

function shown({ set, id, count, reply, got }: Reading): string {
  return `${count} ${set} ${id}\n  reply ${JSON.stringify(reply).slice(0, 400)}\n  got   ${got.slice(0, 400)}`;
}

function tableOf(readings: readonly Reading[]): string {
  const sets = [...new Set(readings.map(({ set }) => set))];
  const rows = [...sets, 'all'].map((name) => {
    const some = readings.filter(({ set }) => name === 'all' || set === name);
    const counts = COUNTS.map((count) => some.filter((each) => each.count === count).length);
    return `| ${name} | ${some.length} | ${counts.join(' | ')} |`;
  });
  return [`| replies | all | ${COUNTS.join(' | ')} |`, '|---|---|---|---|---|---|', ...rows].join('\n');
}

type Reason = readonly [judgement: Judgement | 'without a reason', reason: string];

function reasonOf({ set, id }: Reading): Reason {
  if (set === 'conformance' && ACCEPTED_DIFFERENCES[id] !== undefined) return ['arguable', ACCEPTED_DIFFERENCES[id]];
  const difference = DIFFERENCES.find(({ cases }) => cases.includes(id));
  return difference === undefined ? ['without a reason', ''] : [difference.judgement, difference.reason];
}

/** Counts the differences by judgement, and lists each with svc's value, the expected one and the reason. */
function differencesOf(readings: readonly Reading[]): string {
  const others = readings.filter(({ count }) => count !== 'equal').map((each) => ({ each, reason: reasonOf(each) }));
  const judgements: readonly Reason[0][] = ['better', 'arguable', 'to do', 'without a reason'];
  const counts = [...new Set(others.map(({ each }) => each.set))].map((set) => {
    const ofSet = others.filter(({ each }) => each.set === set);
    const silent = ofSet.filter(({ each, reason }) => each.count === 'wrong' && /to do|without/u.test(reason[0]));
    const counted = judgements.map((judgement) => ofSet.filter(({ reason }) => reason[0] === judgement).length);
    return `| ${set} | ${counted.join(' | ')} | ${silent.length} |`;
  });
  const rows = others.map(
    ({ each, reason: [judgement, reason] }) =>
      `| ${each.id} | ${judgement} | ${cell(each.got)} | ${cell(each.want)} | ${reason} |`,
  );
  return [
    `| replies that differ | ${judgements.join(' | ')} | silent, and worse |\n|---|---|---|---|---|---|`,
    ...counts,
    '\n| case | judgement | svc | expected | reason |\n|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function cell(text: string): string {
  return text
    .slice(0, 80)
    .replaceAll('|', String.raw`\|`)
    .replaceAll('\n', ' ');
}

/** Lists the readings that came out otherwise before. */
function changes(before: readonly Reading[], after: readonly Reading[]): string {
  const earlier = new Map(before.map((each) => [`${each.set} ${each.id}`, each]));
  const lines = after.flatMap((each) => {
    const was = earlier.get(`${each.set} ${each.id}`);
    if (was === undefined || (was.count === each.count && was.got === each.got)) return [];
    return [`${was.count} -> ${shown(each)}\n  was   ${was.got.slice(0, 400)}`];
  });
  return lines.length === 0 ? 'no reading changed' : lines.join('\n');
}

process.exitCode = main();
