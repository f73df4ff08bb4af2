import type { RuntimeOptions } from './runtime.ts';

/** The primary, which counts for all processes, answers in less than a millisecond; no call waits longer than this. */
const PATIENCE_MS = 1000;

/**
 * Returns the turn of a round-robin client: 0, 1, 2, …; waits until `deadlineAt` on the monotonic clock at most. Only
 * clients of the files are counted, so the map stays small.
 */
export type RoundRobinTurns = (client: string, deadlineAt: number) => number | Promise<number>;

/**
 * Counts the turns over all processes, with `shared`. No call fails for the order of turns: while `shared` does not
 * answer, this process counts.
 */
export function roundRobinTurns(shared: RuntimeOptions['roundRobinTurn']): RoundRobinTurns {
  const turns = new Map<string, number>();
  const own = (client: string): number => {
    const turn = turns.get(client) ?? 0;
    turns.set(client, turn + 1);
    return turn;
  };
  if (shared === undefined) return own;
  return (client, deadlineAt) => answered(shared, client, deadlineAt).catch(() => own(client));
}

function answered(
  shared: NonNullable<RuntimeOptions['roundRobinTurn']>,
  client: string,
  deadlineAt: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const patienceMs = Math.min(PATIENCE_MS, deadlineAt - performance.now());
    const timer = setTimeout(() => reject(new Error('no turn in time')), Math.max(0, patienceMs));
    void Promise.resolve(shared(client))
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
