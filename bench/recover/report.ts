import { table } from '../report.ts';
import type { Case } from './kinds.ts';
import { nameOf } from './options.ts';
import { VERDICTS, type Reading, type Verdict } from './readings.ts';

/** One reply with the results of both sides. */
export interface Result {
  readonly case: Case;
  readonly svc: Reading;
  readonly verdict: Verdict;
  /** The stream of svc does not end as the call. */
  readonly streamDiffers: boolean;
  readonly baml: Reading | undefined;
  readonly bamlVerdict: Verdict | undefined;
}

/** The share of exact values on clear kinds, at least, and of wrong ones, at most. */
const LEAST_EXACT = 0.97;
const MOST_WRONG = 0.01;

/** Characters of a reply or value in the output. */
const SHOWN_LENGTH = 1500;

const HEAD = [
  'replies',
  ...VERDICTS.map((verdict) => `svc ${verdict}`),
  'stream differs',
  ...VERDICTS.map((verdict) => `BAML ${verdict}`),
  'crashes',
];

type Tally = Readonly<Record<Verdict | 'replies' | 'streams differ' | 'crashes', number>>;

/** One line for each kind, for each group, and for all. */
export function resultTable(results: readonly Result[]): string {
  const groups = grouped(results, (result) => result.case.kind.group);
  const rows = [...groups].flatMap(([group, inGroup]) => {
    const kinds = [...grouped(inGroup, (result) => result.case.kind)];
    const lines = kinds.map(([kind, inKind]) => [`  ${kind.name}`, kind.clear ? '' : 'unclear', ...counts(inKind)]);
    return [[group, '', ...counts(inGroup)], ...lines];
  });
  return table([['', '', ...HEAD], ...rows]);
}

/** The totals for clear kinds and for all, in percent. */
export function totalTable(results: readonly Result[]): string {
  const clear = results.filter((result) => result.case.kind.clear);
  const unclear = results.filter((result) => !result.case.kind.clear);
  return table([
    ['', 'kinds', ...HEAD],
    totals('clear kinds', clear),
    totals('unclear kinds', unclear),
    totals('all', results),
  ]);
}

function totals(title: string, results: readonly Result[]): readonly string[] {
  const [own, peer] = [tallyOf(results, 'svc'), tallyOf(results, 'baml')];
  return [
    title,
    String(new Set(results.map((result) => result.case.kind)).size),
    String(results.length),
    ...VERDICTS.map((verdict) => percent(own[verdict], own.replies)),
    String(own['streams differ']),
    ...VERDICTS.map((verdict) => percent(peer[verdict], peer.replies)),
    String(peer.crashes),
  ];
}

/** True if the clear kinds reach the bars and every stream ends as its call. */
export function holds(results: readonly Result[]): boolean {
  const clear = tallyOf(
    results.filter((result) => result.case.kind.clear),
    'svc',
  );
  return (
    clear.exact >= LEAST_EXACT * clear.replies &&
    clear.wrong <= MOST_WRONG * clear.replies &&
    results.every((result) => !result.streamDiffers)
  );
}

/** Every reply that svc does not read exactly. */
export function showFailures(results: readonly Result[]): string {
  return results
    .filter((result) => result.verdict !== 'exact' || result.streamDiffers)
    .map(failureText)
    .join('\n');
}

function failureText({ case: each, svc, verdict, streamDiffers, baml, bamlVerdict }: Result): string {
  const { truth } = each;
  const lines = [
    `=== ${nameOf(each.kind)}${each.kind.clear ? '' : ' (unclear)'}`,
    `type:  ${each.subject.name}`,
    `truth: ${truth.kind === 'refusal' ? 'refusal' : `${truth.kind === 'rest' ? 'refusal, or with a loss: ' : ''}${shorten(JSON.stringify(truth.value))}`}`,
    `reply: ${shorten(each.reply).replaceAll('\n', '\n       ')}`,
    `svc:   ${verdict}: ${readingText(svc)}${streamDiffers ? ' (the stream ends otherwise)' : ''}`,
  ];
  if (baml !== undefined) lines.push(`BAML:  ${bamlVerdict}: ${readingText(baml)}`);
  return `${lines.join('\n')}\n`;
}

function readingText(reading: Reading): string {
  if (reading.kind === 'refused') return shorten(reading.message);
  return shorten(JSON.stringify(reading.value)) + (reading.losses > 0 ? ` (${reading.losses} losses)` : '');
}

/** The counts of one kind or group, for the table and for the results. */
export function tallyOf(results: readonly Result[], side: 'svc' | 'baml'): Tally {
  const verdicts = results.map((result) => (side === 'svc' ? result.verdict : result.bamlVerdict));
  const times = (verdict: Verdict): number => verdicts.filter((each) => each === verdict).length;
  return {
    replies: verdicts.filter((each) => each !== undefined).length,
    exact: times('exact'),
    wrong: times('wrong'),
    lossy: times('lossy'),
    refused: times('refused'),
    'streams differ': side === 'svc' ? results.filter((result) => result.streamDiffers).length : 0,
    crashes:
      side === 'svc' ? 0 : results.filter(({ baml }) => baml?.kind === 'refused' && baml.crashed === true).length,
  };
}

/** Lists of the results with the same key, in the order of their first result. */
export function grouped<K>(
  results: readonly Result[],
  keyOf: (result: Result) => K,
): ReadonlyMap<K, readonly Result[]> {
  const groups = new Map<K, Result[]>();
  for (const result of results) {
    const group = groups.get(keyOf(result));
    if (group === undefined) groups.set(keyOf(result), [result]);
    else group.push(result);
  }
  return groups;
}

function counts(results: readonly Result[]): readonly string[] {
  const [own, peer] = [tallyOf(results, 'svc'), tallyOf(results, 'baml')];
  return [
    String(results.length),
    ...VERDICTS.map((verdict) => cell(own[verdict])),
    cell(own['streams differ']),
    ...VERDICTS.map((verdict) => cell(peer[verdict])),
    cell(peer.crashes),
  ];
}

function cell(value: number): string {
  return value === 0 ? '' : String(value);
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((part / whole) * 100).toFixed(1)} %`;
}

function shorten(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}
