import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { compileCondition } from '../src/runtime/prompt/compile-condition.ts';
import { compile } from '../src/compiler/compile.ts';
import { SourceFile } from '../src/diagnostics/source-file.ts';
import { createReplyParser } from '../src/runtime/reply/create-reply-parser.ts';
import type { ReplyParser } from '../src/runtime/reply/reply-parser.ts';
import { indexDefinitions } from '../src/schema/program.ts';
import { bareValue } from './bare-value.ts';
import { ACCEPTED_DIFFERENCES, ACCEPTED_STREAM_DIFFERENCES } from './conformance-differences.ts';

/** A recorded case: definitions, a return type, a reply, and the expected value. */
interface Case {
  readonly id: string;
  readonly schema: string;
  readonly target: string;
  readonly raw: string;
  readonly expect?: unknown;
  readonly fails?: boolean;
  readonly ok?: boolean;
  /** The reply stops early: `expect` is the partial for the whole text. */
  readonly truncated?: boolean;
  readonly peer_stream?: { readonly partials: readonly unknown[]; readonly final?: unknown };
}

interface Verdict {
  readonly agrees: boolean;
  readonly got: string;
}

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
  const text = `${each.schema}\nfunction Conformance(input: string) -> ${each.target} {\n  client "openai/x"\n  prompt #"{{ input }}"#\n}\n`;
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { diagnostics, program } = compile([new SourceFile('case.baml', text)], options);
  const fn = program?.functions.find((candidate) => candidate.name === 'Conformance');
  if (program === undefined || fn === undefined)
    return { agrees: false, got: `not compiled: ${diagnostics[0]?.message}` };
  return judge(each, createReplyParser(fn.returns, indexDefinitions(program), compileCondition));
}

// --- values ---------------------------------------------------------------------------------------------------------

function valueVerdict(each: Case, parser: ReplyParser): Verdict {
  if (each.truncated === true) return partialVerdict(each, parser);
  const outcome = parser.parse(each.raw);
  if (!outcome.ok) return { agrees: each.fails === true, got: `refused: ${outcome.failure.message}` };
  const agrees = each.ok === true || (each.fails !== true && isDeepStrictEqual(outcome.value.value, each.expect));
  return { agrees, got: outcome.value.json };
}

function partialVerdict(each: Case, parser: ReplyParser): Verdict {
  const stream = parser.openStream();
  stream.push(each.raw);
  const partial = stream.takePartial();
  if (partial === undefined) return { agrees: each.fails === true, got: 'no partial' };
  return { agrees: each.fails !== true && isDeepStrictEqual(JSON.parse(partial), each.expect), got: partial };
}

// --- streams --------------------------------------------------------------------------------------------------------

function streamVerdict(each: Case, parser: ReplyParser): Verdict {
  const stream = parser.openStream();
  const partials: unknown[] = [];
  for (let at = 0; at < each.raw.length; at += DELTA_LENGTH) {
    stream.push(each.raw.slice(at, at + DELTA_LENGTH));
    const partial = stream.takePartial();
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
