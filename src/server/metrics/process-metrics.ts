import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { isLossy } from '../../runtime/call/losses.ts';
import { MADE_UP } from '../../runtime/reply/reply-parser.ts';
import type { CallReport, Connections } from '../../runtime/call/runtime.ts';
import type { Attempt } from '../../schema/failure.ts';
import { ClientFailures } from '../server-state.ts';
import type { ParsePool } from '../parse-pool.ts';
import type { MetricData } from '../protocol.ts';
import { HistogramTable, NumberTable, series } from './metric-tables.ts';

/** The end of a call, for counters. */
export interface CallEnd {
  readonly functionName: string;
  readonly route: FunctionRoute;
  readonly status: number;
  /** The failure's code, or `ok`. */
  readonly outcome: string;
  readonly durationMs: number;
  readonly report?: CallReport | undefined;
  /** The name of the caller's key, if the server has a key file. */
  readonly keyName?: string | undefined;
  /** The trace of the call, if it is sampled. */
  readonly traceId?: string | undefined;
}

export type FunctionRoute = 'call' | 'stream' | 'render' | 'parse';

/** Seconds, from a local function to a long generation. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Seconds that svc itself adds to a call. */
const OVERHEAD_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];

/** Functions that do not exist share one label value. */
const UNKNOWN = 'unknown';

/** Clients from requests share one too: they can have any name. */
const OTHER = 'other';

/** Names that become label values; all others share one. */
export interface LabelNames {
  readonly functions: Iterable<string>;
  readonly clients: ReadonlySet<string>;
}

type ParseCounts = ParsePool['counts'];

/** Current values of the gauges. */
export interface GaugeSources {
  readonly connections: () => number;
  readonly waiting: () => number;
  readonly parseQueue: () => number;
  /** The number of replies that threads have parsed, and of those that reached a limit. */
  readonly parsed: () => ParseCounts;
  readonly upstream: () => Connections;
  readonly droppedLogLines: () => number;
  /** Claims on kept answers that got no answer. */
  readonly failedClaims: () => number;
  /** Absent unless svc exports traces or metrics. */
  readonly telemetry?: { readonly droppedSpans: number; readonly failedMetricExports: number };
}

/** The metrics of one worker. Label values come from the program and from fixed lists, so their number is limited. */
export class ProcessMetrics {
  readonly #functions: ReadonlySet<string>;
  readonly #sources: GaugeSources;
  readonly #clients: ReadonlySet<string>;
  readonly #lag = new EventLoopLag();
  /** The failures of the clients of the definitions. */
  readonly clientFailures = new ClientFailures();
  readonly #tables: Array<NumberTable | HistogramTable> = [];
  readonly #inFlight = this.#numbers(
    'svc_requests_in_flight',
    'Calls and streams whose answer is not complete',
    ['route'],
    'gauge',
  );
  readonly #requests = this.#numbers('svc_requests_total', 'Answered calls and streams', [
    'function',
    'route',
    'status',
  ]);
  readonly #failures = this.#numbers('svc_failures_total', 'Failed calls and streams by error code', [
    'function',
    'error',
  ]);
  readonly #duration = this.#histogram('svc_request_duration_seconds', 'Total time of a request', DURATION_BUCKETS);
  readonly #model = this.#histogram('svc_model_duration_seconds', 'Time spent waiting for models', DURATION_BUCKETS);
  readonly #firstText = this.#histogram('svc_first_text_seconds', 'Time to the first model text', DURATION_BUCKETS);
  readonly #overhead = this.#histogram(
    'svc_overhead_seconds',
    'Time that was not spent waiting for models',
    OVERHEAD_BUCKETS,
  );
  readonly #parse = this.#histogram('svc_parse_seconds', 'Time spent parsing replies', OVERHEAD_BUCKETS);
  readonly #attempt = this.#histogram(
    'svc_attempt_duration_seconds',
    'Time of a request to a model',
    DURATION_BUCKETS,
    'client',
  );
  readonly #tokens = this.#numbers('svc_tokens_total', 'Tokens, as providers report them', ['client', 'direction']);
  readonly #cost = this.#numbers('svc_cost_usd_total', 'Cost of the tokens in US dollars, if prices are known', [
    'client',
  ]);
  readonly #attempts = this.#numbers('svc_attempts_total', 'Requests to models', ['client', 'outcome']);
  readonly #repeats = this.#numbers('svc_repeated_attempts_total', 'Attempts after the first one', ['client', 'kind']);
  readonly #reasks = this.#numbers('svc_reasks_total', 'Requests for a corrected reply', [
    'function',
    'client',
    'outcome',
  ]);
  readonly #replies = this.#numbers('svc_replies_total', 'Replies by the outcome of parsing', ['function', 'outcome']);
  readonly #losses = this.#numbers('svc_reply_losses_total', 'Parts of replies that their values lack', [
    'function',
    'kind',
  ]);
  readonly #cachedCalls = this.#numbers('svc_cached_calls_total', 'Calls that ask for a cache', [
    'function',
    'outcome',
  ]);
  readonly #idempotentCalls = this.#numbers(
    'svc_idempotent_calls_total',
    'Calls and streams with an idempotency key, by what happened to them',
    ['function', 'outcome'],
  );
  readonly #keyRequests = this.#numbers('svc_key_requests_total', 'Answered calls and streams by key', [
    'key',
    'status',
  ]);
  readonly #keyTokens = this.#numbers('svc_key_tokens_total', 'Tokens of the calls of a key', ['key', 'direction']);
  readonly #keyCost = this.#numbers('svc_key_cost_usd_total', 'Cost of these tokens, if prices are known', ['key']);
  readonly #limited = this.#numbers('svc_rate_limited_total', 'Requests above a limit of their caller', [
    'key',
    'limit',
  ]);
  readonly #limitFailures = this.#numbers('svc_limit_failures_total', 'Questions about limits without an answer', []);
  readonly #streamCuts = this.#numbers(
    'svc_stream_cuts_total',
    'Streams that ended because their reader accepted nothing',
    [],
  );

  constructor({ functions, clients }: LabelNames, sources: GaugeSources) {
    this.#functions = new Set(functions);
    this.#clients = clients;
    this.#sources = sources;
    // Present from the start: an autoscaler that finds no value does nothing.
    for (const route of ['call', 'stream'] as const) this.#inFlight.add(0, route);
  }

  callStarted(route: FunctionRoute): void {
    this.#inFlight.add(1, route);
  }

  callEnded(end: CallEnd): void {
    const { functionName, route, status, outcome, durationMs, report, traceId } = end;
    const name = this.#functions.has(functionName) ? functionName : UNKNOWN;
    this.#inFlight.add(-1, route);
    this.#requests.add(1, name, route, String(status));
    if (outcome !== 'ok') this.#failures.add(1, name, outcome);
    this.#duration.observe(durationMs / 1000, name, traceId);
    if (report !== undefined) this.#countReport(name, report, end);
    if (end.keyName !== undefined) this.#countKey(end.keyName, end);
  }

  /** A call asks for a cache. Its function exists. */
  cachedCall(functionName: string, outcome: 'hit' | 'miss' | 'bypass'): void {
    this.#cachedCalls.add(1, functionName, outcome);
  }

  /** A call has an idempotency key. Its function exists. */
  idempotentCall(functionName: string, outcome: 'first' | 'replayed' | 'conflict'): void {
    this.#idempotentCalls.add(1, functionName, outcome);
  }

  /** A caller reached a limit. `key`: the name of its key; empty for an address. */
  limited(key: string, limit: string): void {
    this.#limited.add(1, key, limit);
  }

  /** The primary did not answer a question about a limit. */
  limitFailed(): void {
    this.#limitFailures.add(1, '');
  }

  /** A stream ended because its reader accepted nothing. */
  streamCut(): void {
    this.#streamCuts.add(1, '');
  }

  /** The greatest delay of the event loop of the last 30 to 60 seconds. */
  get lagSeconds(): number {
    return this.#lag.seconds;
  }

  /** All metrics with their current values. */
  data(): readonly MetricData[] {
    return [...this.#tables.map((table) => table.data()), ...this.#current()];
  }

  #numbers(name: string, help: string, labels: readonly string[], type: 'counter' | 'gauge' = 'counter'): NumberTable {
    const table = new NumberTable(type, { name, help, labels });
    this.#tables.push(table);
    return table;
  }

  #histogram(name: string, help: string, bounds: readonly number[], label = 'function'): HistogramTable {
    const table = new HistogramTable({ name, help, labels: [label] }, bounds);
    this.#tables.push(table);
    return table;
  }

  /** The metrics whose values others hold. */
  #current(): readonly MetricData[] {
    const { connections, waiting, parseQueue, parsed, upstream, telemetry, ...others } = this.#sources;
    const { replies, ...limits } = parsed();
    const { origins, counts } = upstream();
    const open = counts.map(({ protocol, connections: value }) => ({ labels: { protocol }, value }));
    const requests = counts.flatMap(({ protocol, active, waiting: value }) => [
      { labels: { protocol, state: 'active' }, value: active },
      { labels: { protocol, state: 'waiting' }, value },
    ]);
    const lag = series('gauge', LAG, 'Greatest lag of the last 30 to 60 seconds, of the worst worker', this.lagSeconds);
    return [
      series('gauge', 'svc_connections', 'Open connections of clients', connections()),
      series('gauge', 'svc_queue_length', 'Calls that wait for a slot', waiting()),
      series('gauge', 'svc_parse_queue_length', 'Replies that wait for a parse thread', parseQueue()),
      series('counter', 'svc_log_lines_dropped_total', 'Log lines that could not be written', others.droppedLogLines()),
      series(
        'counter',
        'svc_answer_claims_failed_total',
        'Calls that ran because kept answers were not available',
        others.failedClaims(),
      ),
      series('counter', 'svc_parse_thread_replies_total', 'Replies that threads parsed', replies),
      series(
        'counter',
        'svc_parse_limits_total',
        'Replies that reached a limit of parsing',
        Object.entries(limits).map(([limit, value]) => ({ labels: { limit }, value })),
      ),
      series('gauge', 'svc_upstream_origins', 'Origins of providers with connections', origins),
      series('gauge', 'svc_upstream_connections', 'Open connections to providers', open),
      series('gauge', 'svc_upstream_requests', 'Requests that use connections or wait for one', requests),
      series('counter', 'svc_event_loop_busy_seconds_total', 'Time that event loops were busy', busySeconds()),
      ...(telemetry === undefined ? [] : [lostTelemetry(telemetry)]),
      series('gauge', 'svc_memory_bytes', 'Resident memory of the workers', residentBytes()),
      { ...lag, aggregator: 'max' },
    ];
  }

  #countReport(name: string, report: CallReport, { outcome, durationMs, traceId }: CallEnd): void {
    if (report.attempts.length > 0) this.#model.observe(report.modelMs / 1000, name, traceId);
    this.#overhead.observe(Math.max(0, durationMs - report.modelMs) / 1000, name);
    if (report.firstTextMs !== undefined) this.#firstText.observe(report.firstTextMs / 1000, name, traceId);
    if (report.attempts.length > 1) this.#countRepeats(report.attempts);
    for (const attempt of report.attempts) {
      this.#countAttempt(name, attempt, traceId);
      if (attempt.outcome !== 'ok' && this.#clients.has(attempt.client)) this.clientFailures.note(attempt);
    }
    const parsed = parseOutcome(report, outcome);
    if (parsed !== undefined) {
      this.#replies.add(1, name, parsed);
      this.#parse.observe(report.parseMs / 1000, name);
    }
    const { dropped, defaulted, truncated = 0 } = report.losses;
    if (dropped > 0) this.#losses.add(dropped, name, 'dropped');
    if (defaulted > 0) this.#losses.add(defaulted, name, 'defaulted');
    if (truncated > 0) this.#losses.add(truncated, name, 'truncated');
  }

  /** The names of keys come from the key file, so their number is limited. */
  #countKey(key: string, { status, report }: CallEnd): void {
    this.#keyRequests.add(1, key, String(status));
    const { inputTokens, outputTokens } = report?.usage ?? {};
    if (inputTokens !== undefined) this.#keyTokens.add(inputTokens, key, 'input');
    if (outputTokens !== undefined) this.#keyTokens.add(outputTokens, key, 'output');
    if (report?.cost !== undefined) this.#keyCost.add(report.cost, key);
  }

  /** Compares each attempt with the one before. */
  #countRepeats(attempts: readonly Attempt[]): void {
    let before: string | undefined;
    for (const { client, reask } of attempts) {
      const kind = reask === true ? 'reask' : client === before ? 'retry' : 'fallback';
      if (before !== undefined) this.#repeats.add(1, this.#clientLabel(client), kind);
      before = client;
    }
  }

  #countAttempt(name: string, attempt: Attempt, traceId: string | undefined): void {
    const { client, outcome, reask, inputTokens, outputTokens, cost } = attempt;
    const label = this.#clientLabel(client);
    this.#attempts.add(1, label, outcome);
    this.#attempt.observe(attempt.durationMs / 1000, label, traceId);
    if (reask === true) this.#reasks.add(1, name, label, outcome);
    if (inputTokens !== undefined) this.#tokens.add(inputTokens, label, 'input');
    if (outputTokens !== undefined) this.#tokens.add(outputTokens, label, 'output');
    if (cost !== undefined) this.#cost.add(cost, label);
  }

  #clientLabel(client: string): string {
    return this.#clients.has(client) ? client : OTHER;
  }
}

const LAG = 'svc_event_loop_lag_seconds';

function lostTelemetry({ droppedSpans, failedMetricExports }: NonNullable<GaugeSources['telemetry']>): MetricData {
  const help = 'Spans, and exports of metrics, that did not reach their receiver';
  return series('counter', 'svc_telemetry_dropped_total', help, [
    { labels: { signal: 'traces' }, value: droppedSpans },
    { labels: { signal: 'metrics' }, value: failedMetricExports },
  ]);
}

/** The time since the start of this process in which its event loop was busy. */
function busySeconds(): number {
  return performance.eventLoopUtilization().active / 1000;
}

/** Undefined when no reply was parsed. */
function parseOutcome(report: CallReport, outcome: string): 'clean' | 'repaired' | 'lossy' | 'failed' | undefined {
  if (outcome === 'validation_failure') return 'failed';
  if (outcome !== 'ok') return undefined;
  if (isLossy(report.losses)) return 'lossy';
  return report.flags.some(({ flag }) => flag !== MADE_UP) ? 'repaired' : 'clean';
}

/** Interval at which the event loop is measured. Each measurement wakes the process: every 20 ms they cost an idle one 0.3 % of a core. */
const LAG_STEP_MS = 100;

/** Scrapes come more often than this, so each lag is seen, whatever the number of scrapers. */
const LAG_WINDOW_MS = 30_000;

/** Measures the longest time between two steps, in nanoseconds. */
export interface DelayMonitor {
  readonly max: number;
  reset(): void;
}

/** The greatest lag of the event loop within this window and the one before. */
export class EventLoopLag {
  #monitor: DelayMonitor | undefined;
  #before = 0;
  #since = performance.now();

  /** `monitor`: by default, one that starts with the first reading. */
  constructor(monitor?: DelayMonitor) {
    this.#monitor = monitor;
  }

  get seconds(): number {
    const now = performance.now();
    const monitor = (this.#monitor ??= startMonitor());
    const current = Math.max(0, monitor.max / 1e9 - LAG_STEP_MS / 1000);
    const greatest = Math.max(this.#before, current);
    if (now - this.#since > LAG_WINDOW_MS) {
      this.#before = current;
      this.#since = now;
      monitor.reset();
    }
    return greatest;
  }
}

function startMonitor(): DelayMonitor {
  const monitor = monitorEventLoopDelay({ resolution: LAG_STEP_MS });
  monitor.enable();
  return monitor;
}

/** Resident memory of this process in bytes; 0 while it is out of file descriptors, because Node reads it from a file. */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}
