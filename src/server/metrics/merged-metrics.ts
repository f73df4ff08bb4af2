import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { MetricData } from '../protocol.ts';

/** Kinds of metrics that only grow: those of a worker that is gone stay in the sums. */
const GROWING: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary']);

/** Workers that are gone are added up when there are this many of them. */
const FOLD_AT = 8;

/** Present from the start, so that the first replacement is seen as a step. */
const RESTART_REASONS = ['crash', 'memory', 'age', 'reload'];

/** The metrics of all processes as one truth. Lives in the primary. */
export class MergedMetrics {
  readonly #own = new Registry();
  readonly #restarts = new Counter({
    name: 'svc_worker_restarts_total',
    help: 'Workers that were replaced, by reason',
    labelNames: ['reason'],
    registers: [this.#own],
  });
  readonly #workers = new Gauge({ name: 'svc_workers', help: 'Workers that accept calls', registers: [this.#own] });
  readonly #program = new Gauge({
    name: 'svc_program_info',
    help: 'The program that is served; the value is always 1',
    labelNames: ['hash', 'version'],
    registers: [this.#own],
  });
  #retired: ReadonlyArray<readonly MetricData[]> = [];

  constructor() {
    for (const reason of RESTART_REASONS) this.#restarts.inc({ reason }, 0);
  }

  restarted(reason: string): void {
    this.#restarts.inc({ reason });
  }

  serving(hash: string, version: string): void {
    this.#program.reset();
    this.#program.set({ hash, version }, 1);
  }

  /** Takes over the counters of a worker that is gone, from this moment on. */
  retire(metrics: readonly MetricData[]): void {
    const growing = metrics.filter((metric) => GROWING.has(metric.type));
    if (growing.length > 0) this.#retired = [...this.#retired, growing];
    if (this.#retired.length >= FOLD_AT) void this.#fold();
  }

  /** Prometheus text over the workers' metrics, the primary's own, and those of workers that are gone. */
  async text(workers: ReadonlyArray<readonly MetricData[]>, listening: number): Promise<string> {
    this.#workers.set(listening);
    const own = await json(this.#own);
    return merge([own, ...this.#retired, ...workers]).metrics();
  }

  /** Makes one of many. What is retired meanwhile stays beside it. */
  async #fold(): Promise<void> {
    const parts = this.#retired;
    const folded = await json(merge(parts));
    this.#retired = [folded, ...this.#retired.filter((part) => !parts.includes(part))];
  }
}

/** prom-client types its JSON form loosely; here it is what `getMetricsAsJSON` gives. */
function merge(parts: ReadonlyArray<readonly MetricData[]>): Registry {
  return AggregatorRegistry.aggregate(parts.filter((part) => part.length > 0));
}

async function json(registry: Registry): Promise<readonly MetricData[]> {
  return (await registry.getMetricsAsJSON()) as unknown as readonly MetricData[];
}
