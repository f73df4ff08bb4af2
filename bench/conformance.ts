import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { ReplyParser } from '../src/runtime/reply/reply-parser.ts';
import { bareValue } from './bare-value.ts';
import { ACCEPTED_DIFFERENCES, ACCEPTED_STREAM_DIFFERENCES } from './conformance-differences.ts';
import { replyParserOf, valueVerdict, type RecordedCase as Case, type Verdict } from './recorded-case.ts';

/** The length of a delta in the recorded streams. */
const DELTA_LENGTH = 5;

function main(path: string | undefined): number {
  if (path === undefined) {
    console.error('usage: npm run conformance -- <cases.json>');
    return 2;
  }
  const cases = JSON.parse(readFileSync(path, 'utf8')) as readonly Case[];
  const unexplained = reportValues(cases) + reportStreams(cases.filter((each) => each.peer_stream !== undefined));
  return unexplained === 0 ? 0 : 1;
}

function reportValues(cases: readonly Case[]): number {
  return report('values', cases, ACCEPTED_DIFFERENCES, valueVerdict);
}

function reportStreams(cases: readonly Case[]): number {
  return report(
    'streams: the last partial, and partials that only grow',
    cases,
    ACCEPTED_STREAM_DIFFERENCES,
    streamVerdict,
  );
}

/** Prints the number of cases that agree, and each case that differs; returns the number of differences without a reason. */
function report(
  title: string,
  cases: readonly Case[],
  accepted: Readonly<Record<string, string>>,
  judge: (each: Case, parser: ReplyParser) => Verdict,
): number {
  let agreeing = 0;
  let unexplained = 0;
  for (const each of cases) {
    const verdict = verdictOf(each, judge);
    if (verdict.agrees) agreeing += 1;
    else {
      const reason = accepted[each.id];
      if (reason === undefined) unexplained += 1;
      console.log(
        `${reason === undefined ? 'DIFFERS' : 'differs'} ${each.id}: ${verdict.got}\n  ${reason ?? 'no reason known'}`,
      );
    }
  }
  console.log(`${title}: ${agreeing} of ${cases.length} agree, ${unexplained} differ without a reason\n`);
  return unexplained;
}

function verdictOf(each: Case, judge: (each: Case, parser: ReplyParser) => Verdict): Verdict {
  const parser = replyParserOf(each.schema, each.target);
  return typeof parser === 'string' ? { agrees: false, got: parser } : judge(each, parser);
}

// --- streams --------------------------------------------------------------------------------------------------------

function streamVerdict(each: Case, parser: ReplyParser): Verdict {
  const stream = parser.openStream();
  const partials: unknown[] = [];
  for (let at = 0; at < each.raw.length; at += DELTA_LENGTH) {
    stream.push(each.raw.slice(at, at + DELTA_LENGTH));
    const partial = stream.takePartial()?.join('');
    if (partial !== undefined) partials.push(bareValue(JSON.parse(partial)));
  }
  const step = partials.findIndex((partial, index) => index > 0 && !continues(partials[index - 1], partial));
  if (step >= 0) return { agrees: false, got: `takes back: ${show(partials[step - 1])} then ${show(partials[step])}` };
  const last = partials.at(-1);
  const theirs = each.peer_stream?.partials.at(-1);
  const further = isDeepStrictEqual(last, each.peer_stream?.final) && continues(theirs, last);
  const agrees = partials.length === 0 || further || isDeepStrictEqual(last, theirs);
  return { agrees, got: `${show(last)} instead of the recorded ${show(theirs)}` };
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 300);
}

/** True if `next` contains all that `previous` showed. */
function continues(previous: unknown, next: unknown): boolean {
  if (previous === null || previous === undefined) return true;
  if (typeof previous === 'string') return typeof next === 'string' && next.startsWith(previous);
  if (Array.isArray(previous)) {
    return (
      Array.isArray(next) && next.length >= previous.length && previous.every((item, at) => continues(item, next[at]))
    );
  }
  if (typeof previous !== 'object') return previous === next;
  if (typeof next !== 'object' || next === null) return false;
  const after = new Map(Object.entries(next));
  return Object.entries(previous).every(([key, value]) => !after.has(key) || continues(value, after.get(key)));
}

process.exitCode = main(process.argv[2]);
