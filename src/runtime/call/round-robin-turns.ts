import type { RuntimeOptions } from './runtime-options.ts';

/** Whoever counts for all processes answers in less than a millisecond; a call waits for no answer longer than this. */
const PATIENCE_MS = 1000;

/**
 * Which turn a round-robin client takes: 0, 1, 2, …; until `deadlineAt` on the monotonic clock. Only clients of the
 * files count, so what is kept stays small.
 */
export type RoundRobinTurns = (client: string, deadlineAt: number) => number | Promise<number>;

/**
 * Turns over all processes, where `shared` counts them. The order of turns is worth no call: while nobody answers, they
 * are counted in this process.
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
