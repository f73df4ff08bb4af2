// Entry file: makes messy replies from known values and asks svc and BAML for the values back.
//
// Usage: npm run recover -- [--seed <n>] [--per-kind <n>] [--kind <text>] [--structured-output] [--show] [--json <file>]
import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { ReplyParser } from '../../src/runtime/reply/reply-parser.ts';
import { writeResults } from '../report.ts';
import { missingSide } from '../sides.ts';
import { BamlSide } from './baml-side.ts';
import { casesOf, type Case } from './kinds.ts';
import { nameOf, readOptions, USAGE, type RecoverOptions } from './options.ts';
import { verdictOf } from './readings.ts';
import { grouped, holds, resultTable, showFailures, tallyOf, totalTable, type Result } from './report.ts';
import { structuredParsers } from './structured.ts';
import { definitionFileOf, functionOf, SUBJECTS } from './subjects.ts';
import { readStream, readWhole, svcParsers } from './svc-side.ts';

async function main(options: RecoverOptions): Promise<number> {
  const missing = options.structured ? 'it reads no object around a value' : missingSide('baml');
  if (missing !== undefined) console.log(`BAML is left out: ${missing}`);
  const baml = missing === undefined ? new BamlSide(definitionFileOf(SUBJECTS)) : undefined;
  const cases = options.kinds.flatMap((kind) => casesOf(kind, options.seed, options.perKind));
  const results = await readAll(cases, options, baml);
  baml?.end();
  if (options.show) console.log(showFailures(results));
  console.log(`${resultTable(results)}\n\n${totalTable(results)}\n\nseed ${options.seed}, ${SUBJECTS.length} types`);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results.map(record), undefined, 1)}\n`);
  if (options.complete) console.log(`written to ${save(results, options.seed)}`);
  return holds(results) ? 0 : 1;
}

async function readAll(
  cases: readonly Case[],
  { seed, structured }: RecoverOptions,
  baml: BamlSide | undefined,
): Promise<readonly Result[]> {
  const parsers = structured ? structuredParsers() : svcParsers(SUBJECTS);
  const results: Result[] = [];
  for (const each of cases) {
    const parser = parsers.get(each.subject.name);
    if (parser === undefined) throw new Error(`no function returns ${each.subject.name}`);
    const theirs = await baml?.read(functionOf(SUBJECTS.indexOf(each.subject)), each.reply);
    results.push({
      ...readBoth(each, parser, seed),
      baml: theirs,
      bamlVerdict: theirs && verdictOf(each.truth, theirs),
    });
  }
  return results;
}

function readBoth(each: Case, parser: ReplyParser, seed: number): Omit<Result, 'baml' | 'bamlVerdict'> {
  const svc = readWhole(parser, each.reply);
  const streamDiffers = !isDeepStrictEqual(readStream(parser, each.reply, seed), svc);
  return { case: each, svc, verdict: verdictOf(each.truth, svc), streamDiffers };
}

function record({ case: each, svc, verdict, streamDiffers, baml, bamlVerdict }: Result): object {
  const { kind, subject, truth, reply } = each;
  return {
    kind: nameOf(kind),
    clear: kind.clear,
    type: subject.name,
    truth,
    reply,
    svc,
    verdict,
    streamDiffers,
    baml,
    bamlVerdict,
  };
}

/** Writes the counts of every kind and of all to `bench/results`. */
function save(results: readonly Result[], seed: number): string {
  const kinds = [...grouped(results, (result) => result.case.kind)];
  const data = {
    seed,
    types: SUBJECTS.length,
    clear: count(results.filter((result) => result.case.kind.clear)),
    all: count(results),
    kinds: kinds.map(([kind, some]) => ({ kind: nameOf(kind), clear: kind.clear, ...count(some) })),
  };
  return writeResults(data, 'recover');
}

function count(results: readonly Result[]): object {
  return { svc: tallyOf(results, 'svc'), baml: tallyOf(results, 'baml') };
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') console.log(USAGE);
  else process.exitCode = await main(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
