import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { CallReport } from '../../runtime/function/runtime.ts';
import type { MetricData } from '../protocol.ts';
import type { CallEnd, CallMetrics, FunctionRoute } from './call-metrics.ts';

/** From a local function to a long generation, in seconds. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Our own share of a call, in seconds. */
const OVERHEAD_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];

/** Clients of requests may have any name; beyond this many the rest share one label value. */
const MAX_CLIENTS = 100;

/** Functions that do not exist share one label value. */
const UNKNOWN = 'unknown';

/** What the gauges show at the moment they are asked. */
export interface GaugeSources {
  readonly connections: () => number;
  readonly waiting: () => number;
  readonly parseQueue: () => number;
  readonly droppedLogLines: () => number;
}

/** The counters of one worker. Label values come from the program and from fixed lists, so their number is bounded. */
export class ProcessMetrics implements CallMetrics {
  readonly #registry = new Registry();
  readonly #functions: ReadonlySet<string>;
  readonly #clients = new Set<string>();
  readonly #inFlight = this.#gauge('svc_requests_in_flight', 'Calls and streams not yet answered completely', [
    'route',
  ]);
  readonly #requests = this.#counter('svc_requests_total', 'Answered calls and streams', [
    'function',
    'route',
    'status',
  ]);
  readonly #failures = this.#counter('svc_failures_total', 'Failed calls and streams by error code', [
    'function',
    'error',
  ]);
  readonly #duration = this.#histogram('svc_request_duration_seconds', 'Whole time of a request', DURATION_BUCKETS);
  readonly #model = this.#histogram('svc_model_duration_seconds', 'Time spent waiting for models', DURATION_BUCKETS);
  readonly #firstText = this.#histogram('svc_first_text_seconds', 'Time to the first model text', DURATION_BUCKETS);
  readonly #overhead = this.#histogram('svc_overhead_seconds', 'Time that was not spent on models', OVERHEAD_BUCKETS);
  readonly #tokens = this.#counter('svc_tokens_total', 'Tokens as told by providers', ['client', 'direction']);
  readonly #attempts = this.#counter('svc_attempts_total', 'Requests to models', ['client', 'outcome']);
  readonly #replies = this.#counter('svc_replies_total', 'Replies by what parsing made of them', [
    'function',
    'outcome',
  ]);
  readonly #streamCuts = this.#counter('svc_stream_cuts_total', 'Streams cut since their reader took nothing', []);

  constructor(functionNames: readonly string[], sources: GaugeSources) {
    this.#functions = new Set(functionNames);
    this.#live('svc_connections', 'Open connections of clients', sources.connections);
    this.#live('svc_queue_length', 'Calls waiting for a place', sources.waiting);
    this.#live('svc_parse_queue_length', 'Replies waiting for a parse thread', sources.parseQueue);
    this.#live('svc_log_lines_dropped', 'Log lines that could not be written', sources.droppedLogLines);
    this.#live('svc_memory_bytes', 'Resident memory of the workers', () => process.memoryUsage.rss());
    const delay = monitorEventLoopDelay({ resolution: 20 });
    delay.enable();
    const lag = () => takeLag(delay);
    this.#live('svc_event_loop_lag_seconds', 'Greatest lag since the last look, the worst worker', lag, 'max');
  }

  callStarted(route: FunctionRoute): void {
    this.#inFlight.inc({ route });
  }

  callEnded({ functionName, route, status, outcome, durationMs, report }: CallEnd): void {
    const name = this.#functions.has(functionName) ? functionName : UNKNOWN;
    this.#inFlight.dec({ route });
    this.#requests.inc({ function: name, route, status });
    if (outcome !== 'ok') this.#failures.inc({ function: name, error: outcome });
    this.#duration.observe({ function: name }, durationMs / 1000);
    if (report !== undefined) this.#countReport(name, report, outcome, durationMs);
  }

  streamCut(): void {
    this.#streamCuts.inc();
  }

  async data(): Promise<readonly MetricData[]> {
    return (await this.#registry.getMetricsAsJSON()) as unknown as readonly MetricData[];
  }

  #countReport(name: string, report: CallReport, outcome: string, durationMs: number): void {
    if (report.attempts.length > 0) this.#model.observe({ function: name }, report.modelMs / 1000);
    this.#overhead.observe({ function: name }, Math.max(0, durationMs - report.modelMs) / 1000);
    if (report.firstTextMs !== undefined) this.#firstText.observe({ function: name }, report.firstTextMs / 1000);
    for (const attempt of report.attempts) {
      this.#attempts.inc({ client: this.#clientLabel(attempt.client), outcome: attempt.outcome });
    }
    const parsed = parseOutcome(report, outcome);
    if (parsed !== undefined) this.#replies.inc({ function: name, outcome: parsed });
    this.#countTokens(report);
  }

  #countTokens({ client, usage }: CallReport): void {
    if (client === undefined) return;
    const label = this.#clientLabel(client);
    if (usage.inputTokens !== undefined) this.#tokens.inc({ client: label, direction: 'input' }, usage.inputTokens);
    if (usage.outputTokens !== undefined) this.#tokens.inc({ client: label, direction: 'output' }, usage.outputTokens);
  }

  #clientLabel(client: string): string {
    if (this.#clients.has(client)) return client;
    if (this.#clients.size >= MAX_CLIENTS) return 'other';
    this.#clients.add(client);
    return client;
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #gauge<L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram(name: string, help: string, buckets: number[]): Histogram<'function'> {
    return new Histogram({ name, help, buckets, labelNames: ['function'], registers: [this.#registry] });
  }

  #live(name: string, help: string, read: () => number, aggregator: 'sum' | 'max' = 'sum'): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      aggregator,
      registers: [this.#registry],
      collect: () => gauge.set(read()),
    });
  }
}

/** Undefined when no reply was parsed. */
function parseOutcome(report: CallReport, outcome: string): 'clean' | 'repaired' | 'failed' | undefined {
  if (outcome === 'validation_failure') return 'failed';
  if (outcome !== 'ok') return undefined;
  return report.flags.length > 0 ? 'repaired' : 'clean';
}

function takeLag(delay: ReturnType<typeof monitorEventLoopDelay>): number {
  const seconds = delay.max / 1e9;
  delay.reset();
  return seconds;
}
