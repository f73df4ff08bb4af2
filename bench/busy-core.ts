// Entry file: keeps a core busy for some seconds, and prints how much work it did, so that cores can be compared without a server.
import { performance } from 'node:perf_hooks';

/** Milliseconds of work before the measurement: V8 has compiled the code by the end of them. */
const LEAD_MS = 500;
/** Milliseconds of the measurement, as in `scaling.ts`. */
const WINDOW_MS = 2000;

const TEXT = JSON.stringify(
  Array.from({ length: 200 }, (_, index) => ({ index, name: `name ${index}`, even: index % 2 === 0 })),
);

function rounds(ms: number): number {
  let count = 0;
  for (const end = performance.now() + ms; performance.now() < end; count += 1) JSON.stringify(JSON.parse(TEXT));
  return count;
}

rounds(LEAD_MS);
console.log(rounds(WINDOW_MS));
