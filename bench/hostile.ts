// Entry file: CPU time of hostile inputs: repetitions as replies, runaway templates, a definition file of five megabytes.
import { compile } from '../src/compiler/compile.ts';
import { SourceFile } from '../src/diagnostics/source-file.ts';
import type { ReplyParser } from '../src/runtime/reply/reply-parser.ts';
import { runawayFunction, RUNAWAY_TEMPLATES } from '../test/runtime/prompt/runaway-templates.ts';
import { CLIENT, rendererOf } from '../test/runtime/prompt/sample-program.ts';
import { HOSTILE_DEFINITIONS, HOSTILE_TYPES, OBJECTS, PATTERNS } from '../test/runtime/reply/hostile-patterns.ts';
import { parserOf } from '../test/runtime/reply/parser-of.ts';
import { compareCpu, cpuOnce } from './cpu-time.ts';
import { number, table, writeResults } from './report.ts';

const REPLY_BYTES = 100_000;
/** UTF-16 units of a delta. */
const DELTA = 7;

interface Bar {
  readonly name: string;
  readonly limitMs: number;
  /** The time and the name of its slowest case. */
  readonly worstMs: number;
  readonly worst: string;
}

interface Case {
  readonly name: string;
  /** CPU microseconds. */
  readonly cost: number;
}

function main(): void {
  const replies = HOSTILE_TYPES.flatMap((type) => replyCases(type, PATTERNS));
  const objects = HOSTILE_TYPES.flatMap((type) => replyCases(type, OBJECTS));
  const bars = [
    barOf(
      'a repetition of 100 KB, whole',
      50,
      replies.map(({ whole }) => whole),
    ),
    barOf(
      'a repetition of 100 KB, in deltas',
      100,
      replies.map(({ streamed }) => streamed),
    ),
    barOf(
      '100 KB of small objects, whole',
      100,
      objects.map(({ whole }) => whole),
    ),
    barOf('a runaway template', 100, RUNAWAY_TEMPLATES.map(templateCase)),
    barOf('a definition file of 5 MB', 20_000, [fileCase()]),
  ];
  const rows = bars.map(({ name, limitMs, worstMs, worst }) => [
    name,
    number(worstMs),
    worst,
    `${String(limitMs)}: ${worstMs < limitMs ? 'yes' : 'NO'}`,
  ]);
  console.log(table([['slowest of', 'CPU, ms', 'case', 'under'], ...rows]));
  console.log(writeResults({ bars }, 'hostile'));
}

function barOf(name: string, limitMs: number, cases: readonly Case[]): Bar {
  const [first] = cases.toSorted((a, b) => b.cost - a.cost);
  return { name, limitMs, worstMs: (first?.cost ?? 0) / 1000, worst: first?.name ?? '' };
}

function replyCases(type: string, patterns: readonly string[]): readonly Record<'whole' | 'streamed', Case>[] {
  const parser = parserOf(type, HOSTILE_DEFINITIONS);
  return patterns.map((pattern) => {
    const reply = pattern.repeat(Math.ceil(REPLY_BYTES / pattern.length));
    const { whole, streamed } = compareCpu({
      whole: () => parser.parse(reply),
      streamed: () => stream(parser, reply),
    });
    const name = `${JSON.stringify(pattern)} as ${type}`;
    return { whole: { name, cost: whole }, streamed: { name, cost: streamed } };
  });
}

function stream(parser: ReplyParser, reply: string): void {
  const open = parser.openStream();
  for (let at = 0; at < reply.length; at += DELTA) open.push(reply.slice(at, at + DELTA));
  open.takePartial();
  open.finish();
}

function templateCase([name, prompt]: readonly [string, string]): Case {
  const renderer = rendererOf(runawayFunction(prompt));
  const render = (): void => {
    if (renderer.render('Bomb', { s: 'x' }, CLIENT).ok) throw new Error(`${name} ended without a failure`);
  };
  return { name, cost: compareCpu({ render }).render };
}

function fileCase(): Case {
  const classes = Array.from(
    { length: 60_000 },
    (_, row) => `/// Number ${row}.\nclass C${row} {\n  name string @alias("n")\n  next C${row}?\n}\n`,
  );
  const file = new SourceFile('large.svc', classes.join(''));
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const check = (): void => {
    const { diagnostics } = compile([file], options);
    if (diagnostics.length > 0) throw new Error(diagnostics[0]?.message);
  };
  return { name: '60,000 classes', cost: cpuOnce(check) };
}

main();
