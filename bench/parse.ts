import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { compile } from '../src/compiler/compile.ts';
import { SourceFile } from '../src/diagnostics/source-file.ts';
import { createReplyParser } from '../src/runtime/parsing/create-reply-parser.ts';
import type { ReplyParser } from '../src/runtime/parsing/reply-parser.ts';
import { indexDefinitions } from '../src/schema/definition-index.ts';

const DEFINITIONS = `
enum Level { 
  JUNIOR
  SENIOR
  LEAD
}
class Job {
  company string
  title string
  years int
  remote bool
}
class Person {
  name string
  email string?
  level Level
  score float
  skills string[]
  jobs Job[]
}
class Team {
  people Person[]
}
function Extract(text: string) -> Team {
  client "openai/x"
  prompt #"{{ text }}"#
}
`;

const SIZES = [3_000, 30_000, 300_000, 3_000_000];
/** Pieces as long as a token. */
const PIECE = 4;
/** A partial for every so many pieces: one each 50 ms at 4,000 pieces a second; but no more than so many in all. */
const PIECES_PER_PARTIAL = 200;
const MAX_PARTIALS = 100;
/** jsonrepair needs seconds for more. */
const MAX_OTHERS = 400_000;
/** One figure is the best of so many batches, which cost so much together: what else runs can only add. */
const BATCHES = 7;
const MIN_CPU_MICROSECONDS = 100_000;

/** Prints CPU time and throughput of parsing, whole and in pieces, for clean and for broken replies. */
function main(): void {
  const parser = parserOfDefinitions();
  warmUp(parser);
  console.log(
    'reply            bytes | one shot µs   MB/s | pieces µs  ratio | with partials µs  ratio | JSON.parse µs | jsonrepair µs | partial-json µs',
  );
  for (const size of SIZES) {
    const team = makeTeam(size);
    for (const [name, text] of Object.entries(spellings(team))) {
      checkAnswer(parser, text, team, name);
      console.log(row(parser, name, text));
    }
  }
}

/** Until the engine has compiled what is hot. */
function warmUp(parser: ReplyParser): void {
  const texts = Object.values(spellings(makeTeam(30_000)));
  for (let round = 0; round < 50; round += 1) {
    for (const text of texts) {
      parser.parse(text);
      stream(parser, text, PIECES_PER_PARTIAL);
    }
  }
}

function row(parser: ReplyParser, name: string, text: string): string {
  const whole = measure(() => parser.parse(text));
  const pieces = measure(() => stream(parser, text, Infinity));
  const partials = measure(() =>
    stream(parser, text, Math.max(PIECES_PER_PARTIAL, text.length / PIECE / MAX_PARTIALS)),
  );
  const strict = name === 'clean' ? measure(() => JSON.parse(text)).toFixed(0) : '';
  const cells = [
    `${name.padEnd(13)} ${String(text.length).padStart(8)}`,
    `${whole.toFixed(0).padStart(11)} ${(text.length / whole).toFixed(0).padStart(6)}`,
    `${pieces.toFixed(0).padStart(9)} ${(pieces / whole).toFixed(1).padStart(6)}`,
    `${partials.toFixed(0).padStart(16)} ${(partials / whole).toFixed(1).padStart(6)}`,
    strict.padStart(13),
    others('jsonrepair', 'jsonrepair', text).padStart(13),
    others('partial-json', 'parse', text).padStart(15),
  ];
  return cells.join(' | ');
}

const requireOther = createRequire(new URL('../../bench/package.json', import.meta.url));

/** The same text in another parser: CPU microseconds, or why there is no figure. Neither of them knows the type. */
function others(name: string, method: string, text: string): string {
  if (text.length > MAX_OTHERS) return '';
  let run: unknown;
  try {
    const loaded = requireOther(name) as Readonly<Record<string, unknown>>;
    run = loaded[method];
  } catch {
    return 'not installed';
  }
  if (typeof run !== 'function') return 'not installed';
  const parse = run as (text: string) => unknown;
  try {
    parse(text);
  } catch {
    return 'refused';
  }
  return measure(() => parse(text)).toFixed(0);
}

function stream(parser: ReplyParser, text: string, perPartial: number): void {
  const reply = parser.openStream();
  let due = perPartial;
  let count = 0;
  for (let at = 0; at < text.length; at += PIECE) {
    reply.push(text.slice(at, at + PIECE));
    count += 1;
    if (count >= due) {
      due += perPartial;
      Buffer.byteLength(reply.takePartial() ?? '');
    }
  }
  if (!reply.finish().ok) throw new Error('the stream did not end in a value');
}

/** CPU microseconds of one run: the best of several batches after a warm-up. */
function measure(run: () => unknown): number {
  const warm = timed(run, 1);
  const batch = Math.max(1, Math.ceil(MIN_CPU_MICROSECONDS / BATCHES / Math.max(1, warm)));
  timed(run, Math.ceil(batch / 2));
  return Math.min(...Array.from({ length: BATCHES }, () => timed(run, batch)));
}

function timed(run: () => unknown, times: number): number {
  const before = process.cpuUsage();
  for (let index = 0; index < times; index += 1) run();
  const used = process.cpuUsage(before);
  return (used.user + used.system) / times;
}

// --- inputs ---------------------------------------------------------------------------------------------------------

function parserOfDefinitions(): ReplyParser {
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { diagnostics, program } = compile([new SourceFile('bench.baml', DEFINITIONS)], options);
  const returns = program?.functions[0]?.returns;
  if (program === undefined || returns === undefined) throw new Error(diagnostics[0]?.message);
  return createReplyParser(returns, indexDefinitions(program));
}

interface Team {
  readonly people: readonly object[];
}

function makeTeam(size: number): Team {
  const people: object[] = [];
  for (let index = 0, length = 0; length < size; index += 1) {
    const person = makePerson(index);
    people.push(person);
    length += JSON.stringify(person, undefined, 2).length;
  }
  return { people };
}

function makePerson(index: number): object {
  return {
    name: `Person number ${index}`,
    email: index % 3 === 0 ? null : `person${index}@example.com`,
    level: ['JUNIOR', 'SENIOR', 'LEAD'][index % 3],
    score: index / 8,
    skills: ['TypeScript', `skill ${index}`, 'writing "plain" words'],
    jobs: [{ company: 'Example and sons', title: 'Engineer', years: index % 40, remote: index % 2 === 0 }],
  };
}

/** The same value, as models write it. */
function spellings(team: Team): Record<string, string> {
  const pretty = JSON.stringify(team, undefined, 2);
  return {
    clean: JSON.stringify(team),
    pretty,
    fenced: `Here it is:\n\`\`\`json\n${pretty}\n\`\`\`\nDone.`,
    broken: broken(pretty),
  };
}

/** A fence, a comment, keys without quotes, trailing commas. */
function broken(pretty: string): string {
  const body = pretty
    .replaceAll(/^(\s*)"(\w+)":/gmu, '$1$2:')
    .replaceAll(/\n(\s*)\]/gu, ',\n$1]')
    .replaceAll('jobs:', '// where they worked\n      jobs:');
  return `Here it is:\n\`\`\`json\n${body}\n\`\`\`\n`;
}

function checkAnswer(parser: ReplyParser, text: string, team: Team, name: string): void {
  const outcome = parser.parse(text);
  if (!outcome.ok) throw new Error(`${name}: ${outcome.failure.message}`);
  if (!isDeepStrictEqual(outcome.value.value, team)) throw new Error(`${name}: another value came out`);
}

main();
