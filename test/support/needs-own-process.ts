import { readFileSync } from 'node:fs';

/** Counts the timers of the process or its steps, changes the flags of V8, or replaces modules; the helper does the same for its callers. */
const MARKS =
  /\bgetActiveResourcesInfo\(|\bsetFlagsFromString\(|'Profiler\.|\bvi\.(?:mock|hoisted)\(|\/count-steps\.ts'/;

/** True for a test file that would disturb other files in its process, or that they would disturb. */
export function needsOwnProcess(path: string): boolean {
  return MARKS.test(readFileSync(path, 'utf8'));
}
