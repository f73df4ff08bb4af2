// Entry file: feeds the parts of svc that read hostile input with random input, and checks their invariants.
//
// Usage: npm run fuzz -- --target <name> [--minutes <n>] [--seed <text>]
import { fuzz, type Findings } from './fuzz.ts';
import { guardAgainstHangs } from './hang-guard.ts';
import { readOptions, USAGE, type RunOptions } from './options.ts';
import { findingsTable, showFailures, writeFindings } from './results.ts';
import { targetNamed } from './targets.ts';

async function main({ targets, minutes, seed }: RunOptions): Promise<number> {
  const guard = guardAgainstHangs();
  const all: Findings[] = [];
  for (const name of targets) {
    console.log(`${name}: ${minutes} minutes, --seed ${seed}`);
    const target = await targetNamed(name);
    const until = performance.now() + minutes * 60_000;
    const goesOn = (): boolean => performance.now() < until;
    const found = await fuzz(target, { seed, goesOn, onInput: guard.begin });
    await target.close?.();
    all.push(found);
    console.log(showFailures(found));
    writeFindings(found);
  }
  await guard.end();
  console.log(findingsTable(all));
  return all.some(({ failures }) => failures.length > 0) ? 1 : 0;
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') console.log(USAGE);
  else process.exitCode = await main(options);
} catch (error) {
  console.error(error);
  process.exitCode = 2;
}
