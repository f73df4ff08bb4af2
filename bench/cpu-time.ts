/** Rounds in which the candidates take turns. Other programs can only add time, so the least of the rounds counts. */
const ROUNDS = 7;
/** CPU microseconds of one turn: short enough that a busy machine leaves some of them alone. */
const TURN_MICROSECONDS = 20_000;

/** CPU microseconds of one run of each candidate, measured in turn after a warm-up. */
export function compareCpu<Name extends string>(runs: Readonly<Record<Name, () => unknown>>): Record<Name, number> {
  const names = Object.keys(runs) as Name[];
  const batches = new Map(names.map((name) => [name, batchSize(runs[name])]));
  const best = Object.fromEntries(names.map((name) => [name, Infinity])) as Record<Name, number>;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) best[name] = Math.min(best[name], cpuOf(runs[name], batches.get(name) ?? 1));
  }
  return best;
}

/** CPU microseconds of a single run: for candidates that take seconds. */
export function cpuOnce(run: () => unknown): number {
  return cpuOf(run, 1);
}

function batchSize(run: () => unknown): number {
  const first = cpuOf(run, 1);
  const batch = Math.max(1, Math.ceil(TURN_MICROSECONDS / Math.max(1, first)));
  return Math.max(1, Math.ceil(TURN_MICROSECONDS / Math.max(1, cpuOf(run, batch))));
}

function cpuOf(run: () => unknown, times: number): number {
  const before = process.cpuUsage();
  for (let index = 0; index < times; index += 1) run();
  const used = process.cpuUsage(before);
  return (used.user + used.system) / times;
}
