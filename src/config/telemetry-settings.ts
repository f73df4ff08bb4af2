import { invariant } from '../base/invariant.ts';
import {
  TELEMETRY_VARIABLES,
  variableOfSignal,
  type DefaultedVariable,
  type Signal,
  type TelemetryVariable,
} from './telemetry-variables.ts';

/** The settings of OpenTelemetry, from its standard variables. */
export interface TelemetrySettings {
  /** Absent: svc exports no traces. */
  readonly traces?: TraceSettings;
  /** Absent: svc exports no metrics. */
  readonly metrics?: MetricSettings;
  readonly propagators: ValueOf<'propagators'>;
  /** Attributes of the process, with `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** Whether spans contain arguments, prompts and replies. */
  readonly captureContent: boolean;
}

export interface ExportTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly compression: ValueOf<'compression'>;
}

export interface TraceSettings extends ExportTarget {
  readonly sampler: ValueOf<'sampler'>;
  /** The share of traces for a sampler by ratio. */
  readonly sampledShare: number;
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
  readonly delayMs: number;
  readonly exportTimeoutMs: number;
  readonly maxValueLength: number | undefined;
}

export interface MetricSettings extends ExportTarget {
  readonly intervalMs: number;
  readonly exportTimeoutMs: number;
  readonly temporality: ValueOf<'temporality'>;
}

type ValueOf<Key extends keyof typeof TELEMETRY_VARIABLES> =
  (typeof TELEMETRY_VARIABLES)[Key] extends TelemetryVariable<infer Value> ? Value : never;

type Variables = Readonly<Record<string, string>>;

/** Reports a variable whose value is not allowed; `allowed` completes `NAME is "x", but must be …`. */
type Refuse = (variable: string, allowed: string) => void;

/**
 * Reads the settings of OpenTelemetry. Returns undefined if no variable names a receiver, or if `OTEL_SDK_DISABLED` is true; then no
 * other variable is checked. After a call of `refuse`, the result is void.
 */
export function telemetrySettings(variables: Variables, refuse: Refuse): TelemetrySettings | undefined {
  const read = new VariableReader(variables, refuse);
  const of = TELEMETRY_VARIABLES;
  const endpoint = read.optional(of.endpoint);
  const addresses = {
    traces: read.optional(of.tracesEndpoint) ?? addressOf('traces', endpoint),
    metrics: read.optional(of.metricsEndpoint) ?? addressOf('metrics', endpoint),
  };
  if (addresses.traces === undefined && addresses.metrics === undefined) return undefined;
  if (read.value(of.disabled)) return undefined;
  const traces = read.value(of.tracesExporter) === 'otlp' ? addresses.traces : undefined;
  const metrics = read.value(of.metricsExporter) === 'otlp' ? addresses.metrics : undefined;
  if (traces === undefined && metrics === undefined) return undefined;
  const name = read.optional(of.serviceName);
  return {
    ...(traces === undefined ? {} : { traces: traceSettings(traces, read) }),
    ...(metrics === undefined ? {} : { metrics: metricSettings(metrics, read) }),
    propagators: read.value(of.propagators),
    resource: {
      'service.name': 'svc',
      ...read.value(of.resource),
      ...(name === undefined ? {} : { 'service.name': name }),
    },
    captureContent: read.value(of.captureContent),
  };
}

/** The values of export headers, which often contain a key. */
export function exportSecrets(variables: Variables): readonly string[] {
  const { variable, parse } = TELEMETRY_VARIABLES.headers;
  const names = [variable, variableOfSignal(variable, 'TRACES'), variableOfSignal(variable, 'METRICS')];
  return names.flatMap((name) => {
    const headers = parse(variables[name] ?? '');
    // Such as `Bearer KEY`.
    return headers.ok ? Object.values(headers.value).flatMap((value) => [value, value.split(' ').at(-1) ?? '']) : [];
  });
}

/** The URL of a signal below the common URL. */
function addressOf(signal: string, common: string | undefined): string | undefined {
  return common === undefined ? undefined : `${common.replace(/\/$/u, '')}/v1/${signal}`;
}

/** A variable of the signal takes precedence; headers of both are joined. */
function target(url: string, signal: Signal, read: VariableReader): ExportTarget {
  const of = TELEMETRY_VARIABLES;
  const first = <Value>(variable: DefaultedVariable<Value>): Value =>
    read.optional(ofSignal(variable, signal)) ?? read.value(variable);
  first(of.protocol);
  return {
    url,
    headers: { ...read.value(of.headers), ...read.optional(ofSignal(of.headers, signal)) },
    timeoutMs: first(of.timeout),
    compression: first(of.compression),
  };
}

function ofSignal<Value>(declared: TelemetryVariable<Value>, signal: Signal): TelemetryVariable<Value> {
  return { ...declared, variable: variableOfSignal(declared.variable, signal) };
}

function traceSettings(url: string, read: VariableReader): TraceSettings {
  const of = TELEMETRY_VARIABLES;
  const maxQueueSize = read.value(of.maxQueueSize);
  return {
    ...target(url, 'TRACES', read),
    sampler: read.value(of.sampler),
    sampledShare: read.value(of.sampledShare),
    maxQueueSize,
    maxBatchSize: Math.min(maxQueueSize, read.value(of.maxBatchSize)),
    delayMs: read.value(of.delay),
    exportTimeoutMs: read.value(of.spanTimeout),
    maxValueLength: read.optional(of.spanValueLength) ?? read.optional(of.valueLength),
  };
}

function metricSettings(url: string, read: VariableReader): MetricSettings {
  const of = TELEMETRY_VARIABLES;
  const intervalMs = read.value(of.metricInterval);
  return {
    ...target(url, 'METRICS', read),
    intervalMs,
    exportTimeoutMs: Math.min(intervalMs, read.value(of.metricTimeout)),
    temporality: read.value(of.temporality),
  };
}

class VariableReader {
  readonly #variables: Variables;
  readonly #refuse: Refuse;

  constructor(variables: Variables, refuse: Refuse) {
    this.#variables = variables;
    this.#refuse = refuse;
  }

  value<Value>(declared: DefaultedVariable<Value>): Value {
    const fallback = declared.parse(declared.default);
    invariant(fallback.ok, `the default of ${declared.variable} is not allowed`);
    return this.optional(declared) ?? fallback.value;
  }

  /** An empty variable counts as unset. */
  optional<Value>({ variable, parse }: TelemetryVariable<Value>): Value | undefined {
    const text = this.#variables[variable]?.trim() ?? '';
    if (text === '') return undefined;
    const parsed = parse(text);
    if (parsed.ok) return parsed.value;
    this.#refuse(variable, parsed.failure);
    return undefined;
  }
}
