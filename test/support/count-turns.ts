import { onTestFinished } from 'vitest';

/** Numbers the turns of the event loop until the test ends, from 0. Returns a function that returns the number of this turn. */
export function countTurns(): () => number {
  let turn = 0;
  let stopped = false;
  const next = (): void => {
    turn += 1;
    if (!stopped) setImmediate(next);
  };
  setImmediate(next);
  onTestFinished(() => {
    stopped = true;
  });
  return () => turn;
}
