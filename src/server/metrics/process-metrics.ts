import type { CallReport } from '../../runtime/call/runtime.ts';
import type { MetricData } from '../protocol.ts';
import type { CallEnd, CallMetrics, FunctionRoute } from './call-metrics.ts';
import { EventLoopLag } from './event-loop-lag.ts';
import { HistogramTable } from './histogram-table.ts';
import { NumberTable } from './number-table.ts';
import { residentBytes } from './resident-bytes.ts';

/** From a local function to a long generation, in seconds. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Our own share of a call, in seconds. */
const OVERHEAD_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];

/** Functions that do not exist share one label value. */
const UNKNOWN = 'unknown';

/** So do clients that requests bring along: they may have any name. */
const OTHER = 'other';

/** What becomes a label value; everything else shares one. */
export interface LabelNames {
  readonly functions: Iterable<string>;
  readonly clients: ReadonlySet<string>;
}

/** What the gauges show at the moment they are asked. */
export interface GaugeSources {
  readonly connections: () => number;
  readonly waiting: () => number;
  readonly parseQueue: () => number;
  readonly droppedLogLines: () => number;
}

/** The counters of one worker. Label values come from the program and from fixed lists, so their number is bounded. */
export class ProcessMetrics implements CallMetrics {
  readonly #functions: ReadonlySet<string>;
  readonly #sources: GaugeSources;
  readonly #clients: ReadonlySet<string>;
  readonly #lag = new EventLoopLag();
  readonly #inFlight = new NumberTable('gauge', {
    name: 'svc_requests_in_flight',
    help: 'Calls and streams not yet answered completely',
    labels: ['route'],
  });
  readonly #requests = counter('svc_requests_total', 'Answered calls and streams', ['function', 'route', 'status']);
  readonly #failures = counter('svc_failures_total', 'Failed calls and streams by error code', ['function', 'error']);
  readonly #duration = histogram('svc_request_duration_seconds', 'Whole time of a request', DURATION_BUCKETS);
  readonly #model = histogram('svc_model_duration_seconds', 'Time spent waiting for models', DURATION_BUCKETS);
  readonly #firstText = histogram('svc_first_text_seconds', 'Time to the first model text', DURATION_BUCKETS);
  readonly #overhead = histogram('svc_overhead_seconds', 'Time that was not spent on models', OVERHEAD_BUCKETS);
  readonly #tokens = counter('svc_tokens_total', 'Tokens as told by providers', ['client', 'direction']);
  readonly #attempts = counter('svc_attempts_total', 'Requests to models', ['client', 'outcome']);
  readonly #replies = counter('svc_replies_total', 'Replies by what parsing made of them', ['function', 'outcome']);
  readonly #streamCuts = counter('svc_stream_cuts_total', 'Streams cut since their reader took nothing', []);

  constructor({ functions, clients }: LabelNames, sources: GaugeSources) {
    this.#functions = new Set(functions);
    this.#clients = clients;
    this.#sources = sources;
    // There from the start: an autoscaler that finds no figure scales nothing.
    for (const route of ['call', 'stream'] as const) this.#inFlight.add(0, route);
  }

  callStarted(route: FunctionRoute): void {
    this.#inFlight.add(1, route);
  }

  callEnded({ functionName, route, status, outcome, durationMs, report }: CallEnd): void {
    const name = this.#functions.has(functionName) ? functionName : UNKNOWN;
    this.#inFlight.add(-1, route);
    this.#requests.add(1, name, route, String(status));
    if (outcome !== 'ok') this.#failures.add(1, name, outcome);
    this.#duration.observe(durationMs / 1000, name);
    if (report !== undefined) this.#countReport(name, report, outcome, durationMs);
  }

  streamCut(): void {
    this.#streamCuts.add(1, '');
  }

  /** All of them as they are now. */
  data(): readonly MetricData[] {
    const tables = [
      this.#inFlight,
      this.#requests,
      this.#failures,
      this.#duration,
      this.#model,
      this.#firstText,
      this.#overhead,
      this.#tokens,
      this.#attempts,
      this.#replies,
      this.#streamCuts,
    ];
    return [...tables.map((table) => table.data()), ...this.#gauges()];
  }

  #gauges(): readonly MetricData[] {
    const { connections, waiting, parseQueue, droppedLogLines } = this.#sources;
    return [
      gauge('svc_connections', 'Open connections of clients', connections()),
      gauge('svc_queue_length', 'Calls waiting for a place', waiting()),
      gauge('svc_parse_queue_length', 'Replies waiting for a parse thread', parseQueue()),
      {
        ...gauge('svc_log_lines_dropped_total', 'Log lines that could not be written', droppedLogLines()),
        type: 'counter',
      },
      gauge('svc_memory_bytes', 'Resident memory of the workers', residentBytes()),
      { ...gauge(LAG, 'Greatest lag of the last minute, the worst worker', this.#lag.seconds), aggregator: 'max' },
    ];
  }

  #countReport(name: string, report: CallReport, outcome: string, durationMs: number): void {
    if (report.attempts.length > 0) this.#model.observe(report.modelMs / 1000, name);
    this.#overhead.observe(Math.max(0, durationMs - report.modelMs) / 1000, name);
    if (report.firstTextMs !== undefined) this.#firstText.observe(report.firstTextMs / 1000, name);
    for (const attempt of report.attempts) this.#attempts.add(1, this.#clientLabel(attempt.client), attempt.outcome);
    const parsed = parseOutcome(report, outcome);
    if (parsed !== undefined) this.#replies.add(1, name, parsed);
    this.#countTokens(report);
  }

  #countTokens({ client, usage }: CallReport): void {
    if (client === undefined) return;
    const label = this.#clientLabel(client);
    if (usage.inputTokens !== undefined) this.#tokens.add(usage.inputTokens, label, 'input');
    if (usage.outputTokens !== undefined) this.#tokens.add(usage.outputTokens, label, 'output');
  }

  #clientLabel(client: string): string {
    return this.#clients.has(client) ? client : OTHER;
  }
}

const LAG = 'svc_event_loop_lag_seconds';

function counter(name: string, help: string, labels: readonly string[]): NumberTable {
  return new NumberTable('counter', { name, help, labels });
}

function histogram(name: string, help: string, bounds: readonly number[]): HistogramTable {
  return new HistogramTable({ name, help, labels: ['function'] }, bounds);
}

function gauge(name: string, help: string, value: number): MetricData {
  return { name, help, type: 'gauge', aggregator: 'sum', values: [{ labels: {}, value }] };
}

/** Undefined when no reply was parsed. */
function parseOutcome(report: CallReport, outcome: string): 'clean' | 'repaired' | 'failed' | undefined {
  if (outcome === 'validation_failure') return 'failed';
  if (outcome !== 'ok') return undefined;
  return report.flags.length > 0 ? 'repaired' : 'clean';
}

/** What is measured is the time between two looks. */
