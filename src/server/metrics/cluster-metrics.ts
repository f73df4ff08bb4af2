import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry, Registry, type RegistryContentType } from 'prom-client';
import type { Exemplar, MetricData, MetricsFormat, MetricValue } from '../protocol.ts';
import type { AnswerCounts } from '../../policy/answer-store.ts';
import { compareText } from '../../base/json.ts';
import type { CoolDownReason } from '../../policy/cool-downs.ts';
import type { WorkerHandle } from '../worker-handle.ts';
import { NumberTable, series } from './metric-tables.ts';
import { residentBytes } from './process-metrics.ts';

/** Kinds of metrics that only grow: the sums keep those of exited workers. */
const GROWING: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary']);

/** The metrics of this many exited workers are merged into one. */
const FOLD_AT = 8;

/** A busy worker can answer too late; then its previous counters are used. */
const COLLECT_MS = 1_000;

/** Present from the start, so that the first replacement appears as a step. */
const RESTART_REASONS = ['crash', 'memory', 'age', 'reload'];

/** The metrics of the whole server: those of the primary, of its workers, and of workers that exited. */
export class ClusterMetrics {
  readonly #restarts = new NumberTable('counter', {
    name: 'svc_worker_restarts_total',
    help: 'Replaced workers, by reason',
    labels: ['reason'],
  });
  readonly #coolDowns = new NumberTable('counter', {
    name: 'svc_client_cool_downs_total',
    help: 'Cool-downs of clients that began',
    labels: ['client', 'reason'],
  });
  /** By client: whether it cools down. */
  readonly #cooling = new Map<string, boolean>();
  #program: readonly MetricValue[] = [];
  #answers: AnswerCounts = { entries: 0, bytes: 0, waits: 0 };
  #retired: ReadonlyArray<readonly MetricData[]> = [];
  /** Collections that still wait for answers. */
  readonly #collections = new Map<number, Collection>();
  #lastId = 0;

  constructor() {
    for (const reason of RESTART_REASONS) this.#restarts.add(0, reason);
  }

  restarted(reason: string): void {
    this.#restarts.add(1, reason);
  }

  answersKept(answers: AnswerCounts): void {
    this.#answers = answers;
  }

  /** A client begins to cool down; without a reason, it stops. */
  cooling(client: string, reason: CoolDownReason | undefined): void {
    this.#cooling.set(client, reason !== undefined);
    if (reason !== undefined) this.#coolDowns.add(1, client, reason);
  }

  serving(hash: string, version: string): void {
    this.#program = [{ labels: { hash, version }, value: 1 }];
  }

  /** Keeps the counters of a worker that exited. */
  retire(metrics: readonly MetricData[]): void {
    const growing = metrics.filter((metric) => GROWING.has(metric.type));
    if (growing.length > 0) this.#retired = [...this.#retired, growing];
    if (this.#retired.length >= FOLD_AT) void this.#fold();
  }

  /** Asks these workers for their newest counters, which their handles keep. Resolves when all answered, or after a second. */
  async collect(asked: readonly WorkerHandle[]): Promise<void> {
    if (asked.length === 0) return;
    this.#lastId += 1;
    const id = this.#lastId;
    const complete = new Promise<void>((resolve) => {
      this.#collections.set(id, { missing: new Set(asked), resolve });
    });
    for (const one of asked) one.send({ type: 'collect-metrics', id });
    await Promise.race([complete, sleep(COLLECT_MS, undefined, { ref: false })]);
    this.#collections.delete(id);
  }

  /** A worker answered the collection with this id. */
  collected(id: number, from: WorkerHandle): void {
    const collection = this.#collections.get(id);
    if (collection?.missing.delete(from) === true && collection.missing.size === 0) collection.resolve();
  }

  /** The metrics of these workers, the primary's own, and those of exited workers, as text. `serving`: those that accept calls. */
  async text(
    workers: ReadonlyArray<readonly MetricData[]>,
    serving: readonly WorkerGauges[],
    format: MetricsFormat = 'prometheus',
  ): Promise<string> {
    const parts = [this.#own(serving), ...this.#retired, ...workers];
    if (format === 'prometheus') return merge(parts).metrics();
    const merged = merge(parts.map(openMetrics), Registry.OPENMETRICS_CONTENT_TYPE);
    await addExemplars(merged, parts);
    return merged.metrics();
  }

  #own(serving: readonly WorkerGauges[]): readonly MetricData[] {
    const byWorker = (of: 'rssBytes' | 'lagSeconds') =>
      serving.map((worker) => ({ labels: { worker: String(worker.number) }, value: worker[of] }));
    const cooling = [...this.#cooling].map(([client, cools]) => ({ labels: { client }, value: cools ? 1 : 0 }));
    const { entries, bytes, waits } = this.#answers;
    const lag = 'Greatest delay of the event loop of each worker in the last 30 to 60 seconds';
    const coolingHelp = '1 while strategies pass over the client, because its attempts failed';
    const program = 'The program that is served; the value is always 1';
    const keptBytes = 'Memory of kept answers, of which --cache-memory is the limit';
    const waited = 'Waits of calls for the answer of an equal call that ran';
    return [
      this.#restarts.data(),
      series('gauge', 'svc_workers', 'Workers that accept calls', serving.length),
      series('gauge', 'svc_worker_memory_bytes', 'Resident memory of each worker', byWorker('rssBytes')),
      series('gauge', 'svc_worker_event_loop_delay_seconds', lag, byWorker('lagSeconds')),
      series('gauge', 'svc_primary_memory_bytes', 'Resident memory of the primary', residentBytes()),
      series('gauge', 'svc_client_cooling', coolingHelp, cooling),
      this.#coolDowns.data(),
      series('gauge', 'svc_program_info', program, this.#program),
      series('gauge', 'svc_kept_answers', 'Kept answers', entries),
      series('gauge', 'svc_kept_answer_bytes', keptBytes, bytes),
      series('counter', 'svc_kept_answer_waits_total', waited, waits),
    ];
  }

  /** Merges the retired metrics. Those that are retired meanwhile stay beside the result. */
  async #fold(): Promise<void> {
    const parts = this.#retired;
    const folded = await json(merge(parts));
    this.#retired = [folded, ...this.#retired.filter((part) => !parts.includes(part))];
  }
}

interface Collection {
  readonly missing: Set<WorkerHandle>;
  readonly resolve: () => void;
}

/** The gauges of a worker from its heartbeats. */
type WorkerGauges = Pick<WorkerHandle, 'number' | 'rssBytes' | 'lagSeconds'>;

/** Removes the suffix of counters, which only their samples have, because prom-client adds it again. */
function openMetrics(part: readonly MetricData[]): readonly MetricData[] {
  return part.map((metric) => {
    return metric.type === 'counter' ? { ...metric, name: metric.name.replace(/_total$/u, '') } : metric;
  });
}

/** Adds the newest exemplar of each bucket, because merging drops exemplars. */
async function addExemplars(merged: Registry, parts: ReadonlyArray<readonly MetricData[]>): Promise<void> {
  const newest = new Map<string, Exemplar>();
  for (const value of parts.flat().flatMap(({ values }) => values)) {
    const { exemplar } = value;
    if (exemplar === undefined) continue;
    const key = bucketOf(value);
    if (exemplar.timestamp >= (newest.get(key)?.timestamp ?? 0)) newest.set(key, exemplar);
  }
  if (newest.size === 0) return;
  for (const metric of merged.getMetricsAsArray()) {
    const { values } = await (metric as unknown as MergedMetric).get();
    for (const value of values) {
      const exemplar = newest.get(bucketOf(value));
      if (exemplar !== undefined) Object.assign(value, { exemplar });
    }
  }
}

/** A metric of a merged registry. */
interface MergedMetric {
  get(): Promise<MetricData> | MetricData;
}

function bucketOf({ metricName = '', labels }: MetricValue): string {
  return JSON.stringify([metricName, Object.entries(labels).toSorted(([a], [b]) => compareText(a, b))]);
}

/** The types of prom-client lack the second parameter. */
const aggregate: (parts: Array<readonly MetricData[]>, type: RegistryContentType) => Registry =
  AggregatorRegistry.aggregate.bind(AggregatorRegistry);

function merge(
  parts: ReadonlyArray<readonly MetricData[]>,
  type: RegistryContentType = Registry.PROMETHEUS_CONTENT_TYPE,
): Registry {
  return aggregate(
    parts.filter((part) => part.length > 0),
    type,
  );
}

/** The result of `getMetricsAsJSON`, which prom-client types loosely. */
async function json(registry: Registry): Promise<readonly MetricData[]> {
  return (await registry.getMetricsAsJSON()) as unknown as readonly MetricData[];
}
