// Runs scripts of package.json at the same time: node .build/together.mjs SCRIPT…
// Prints the output of each in turn, as if they ran one after another, and fails if one of them fails. After
// all output, prints the end of the output of each failed script again: people look at the end of a log first, and tools that shorten logs keep it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';

/** A script waits if its output exceeds this while an earlier one runs. */
const OUTPUT_BYTES = 2 ** 28;

/** Bytes of output to print again: enough for the failures that test runners list last. */
const REPEATED_BYTES = 2 ** 14;

// The compiler and the linter are Go programs that end within seconds: a fifth of their time would be collecting garbage.
const env = { GOGC: 'off', GOMEMLIMIT: '2GiB', ...process.env };

const runs = process.argv.slice(2).map((script) => {
  const child = spawn(`npm run ${script}`, { env, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = new PassThrough({ highWaterMark: OUTPUT_BYTES });
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  const ended = once(child, 'close').then(([code]) => {
    output.end();
    return { script, code };
  });
  return { output, ended };
});

const failed = [];
for (const { output, ended } of runs) {
  let end = Buffer.alloc(0);
  for await (const part of output) {
    process.stdout.write(part);
    end = Buffer.concat([end, part]).subarray(-REPEATED_BYTES);
  }
  const { script, code } = await ended;
  if (code !== 0) failed.push({ script, end });
}
if (failed.length > 0) {
  for (const { script, end } of failed) process.stdout.write(`\nlast output of ${script}:\n${end.toString()}\n`);
  console.error(`failed: ${failed.map(({ script }) => script).join(', ')}`);
  process.exitCode = 1;
}
