// Entry file of `npm run bench`: CPU time per request of svc beside the floor and the peer, and which bars hold.
import { judge } from './bars.ts';
import { fixedRateLoad, type LoadResult } from './load.ts';
import { measureCase, type CaseResult } from './measure.ts';
import { readOptions, USAGE, type BenchOptions } from './options.ts';
import { resultTable, table, verdictTable, writeResults, number } from './report.ts';
import { missingSide, setStage, type Side } from './sides.ts';

/** Well below what the slowest side can do on two cores. */
const FIXED_RATE = 500;
const FIXED_RATE_SECONDS = 5;

const options = readOptions(process.argv.slice(2));
if (options === 'help') console.log(USAGE);
else await run(options);

async function run({ cases, sides, pairs, limitMs }: BenchOptions): Promise<void> {
  const watchdog = setTimeout(() => {
    console.error(`gave up after ${limitMs / 60_000} minutes`);
    process.exit(1);
  }, limitMs);
  const present = sides.filter((name) => {
    const reason = missingSide(name);
    if (reason !== undefined) console.error(`${name} left out (${reason})`);
    return reason === undefined;
  });
  const stage = await setStage({ sides: present });
  try {
    const results: CaseResult[] = [];
    for (const subject of cases) {
      console.error(`${subject.title} ...`);
      results.push(await measureCase(subject, stage.sides, pairs));
    }
    const latencies = cases.some((subject) => subject.name === 'call-small') ? await fixedRate(stage.sides) : [];
    print(results, latencies);
  } finally {
    clearTimeout(watchdog);
    await stage.end();
  }
}

interface FixedRateResult extends LoadResult {
  readonly side: string;
}

async function fixedRate(sides: readonly Side[]): Promise<readonly FixedRateResult[]> {
  const results: FixedRateResult[] = [];
  for (const side of sides) {
    const result = await fixedRateLoad(`${side.url}/call/Small`, FIXED_RATE, FIXED_RATE_SECONDS);
    results.push({ side: side.name, ...result });
  }
  return results;
}

function print(results: readonly CaseResult[], latencies: readonly FixedRateResult[]): void {
  const verdicts = judge(results);
  console.log(`\n${resultTable(results)}`);
  if (latencies.length > 0) {
    const rows = latencies.map(({ side, p50, p99 }) => [side, number(p50), number(p99)]);
    console.log(`\n${table([[`/call 150 bytes at ${FIXED_RATE}/s`, 'p50 ms', 'p99 ms'], ...rows])}`);
  }
  console.log(`\n${verdictTable(verdicts)}`);
  console.log(`\n${writeResults({ results, latencies, verdicts })}`);
}
