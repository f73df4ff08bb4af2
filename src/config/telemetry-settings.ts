import { invariant } from '../base/invariant.ts';
import { percentDecoded } from '../base/percent-encoding.ts';
import { err, ok, type Result } from '../base/result.ts';
import { keyword, wholeNumber, yesOrNo, type ParseValue } from './settings.ts';

// --- the variables ----------------------------------------------------------------------------------------------------

/** A standard variable of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
export interface TelemetryVariable<Value> {
  readonly variable: string;
  readonly help: string;
  readonly parse: ParseValue<Value>;
  /** Written as a user would write it. */
  readonly default?: string;
  /** Whether the variable has forms for one signal, such as `OTEL_EXPORTER_OTLP_TRACES_TIMEOUT`. */
  readonly perSignal?: true;
}

export interface DefaultedVariable<Value> extends TelemetryVariable<Value> {
  readonly default: string;
}

export type Signal = 'TRACES' | 'METRICS';

type Propagator = 'tracecontext' | 'baggage';

/** The maximum size of the span queue of a process. More spans could fill its memory. */
const MAX_QUEUE = 100_000;

/** One day. A longer time is a mistake. */
const MAX_MS = 86_400_000;

const MILLISECONDS = wholeNumber(1, MAX_MS);

const LENGTH = wholeNumber(1, 2 ** 30);

/** Every variable of OpenTelemetry that svc reads. */
export const TELEMETRY_VARIABLES = {
  endpoint: declared({
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    help: 'Base URL of the receiver: traces go to `/v1/traces` below it, and metrics to `/v1/metrics`',
    parse: address,
  }),
  tracesEndpoint: declared({
    variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    help: 'Complete URL of the receiver of traces',
    parse: address,
  }),
  metricsEndpoint: declared({
    variable: 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
    help: 'Complete URL of the receiver of metrics',
    parse: address,
  }),
  disabled: defaulted({
    variable: 'OTEL_SDK_DISABLED',
    help: 'Export neither traces nor metrics',
    parse: yesOrNo,
    default: 'false',
  }),
  tracesExporter: defaulted({
    variable: 'OTEL_TRACES_EXPORTER',
    help: '`none` turns traces off',
    parse: keyword('otlp', 'none'),
    default: 'otlp',
  }),
  metricsExporter: defaulted({
    variable: 'OTEL_METRICS_EXPORTER',
    help: '`none` turns metrics off',
    parse: keyword('otlp', 'none'),
    default: 'otlp',
  }),
  headers: defaulted({
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    help: 'Headers of each export, such as `authorization=Bearer%20KEY`; svc never logs their values',
    parse: pairs,
    default: '',
    perSignal: true,
  }),
  timeout: defaulted({
    variable: 'OTEL_EXPORTER_OTLP_TIMEOUT',
    help: 'Time limit of one export, in milliseconds',
    parse: MILLISECONDS,
    default: '10000',
    perSignal: true,
  }),
  compression: defaulted({
    variable: 'OTEL_EXPORTER_OTLP_COMPRESSION',
    help: 'Compression of exports',
    parse: keyword('gzip', 'none'),
    default: 'none',
    perSignal: true,
  }),
  protocol: defaulted({
    variable: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    help: 'Protocol of exports',
    parse: protocol,
    default: 'http/protobuf',
    perSignal: true,
  }),
  serviceName: declared({
    variable: 'OTEL_SERVICE_NAME',
    help: 'Name of the service; without it, the one in `OTEL_RESOURCE_ATTRIBUTES`, otherwise `svc`',
    parse: (text) => ok(text),
  }),
  resource: defaulted({
    variable: 'OTEL_RESOURCE_ATTRIBUTES',
    help: 'Further resource attributes, such as `deployment.environment.name=prod`',
    parse: pairs,
    default: '',
  }),
  sampler: defaulted({
    variable: 'OTEL_TRACES_SAMPLER',
    help: 'Which requests have a trace',
    parse: keyword(
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
      'always_on',
      'always_off',
      'traceidratio',
    ),
    default: 'parentbased_always_on',
  }),
  sampledShare: defaulted({
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    help: 'Share of traces for a sampler by ratio',
    parse: ratio,
    default: '1',
  }),
  propagators: defaulted({
    variable: 'OTEL_PROPAGATORS',
    help: 'Formats of the headers that continue a trace',
    parse: propagators,
    default: 'tracecontext,baggage',
  }),
  maxQueueSize: defaulted({
    variable: 'OTEL_BSP_MAX_QUEUE_SIZE',
    help: 'Maximum number of spans in the queue of each worker',
    parse: wholeNumber(1, MAX_QUEUE),
    default: '2048',
  }),
  maxBatchSize: defaulted({
    variable: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    help: 'Maximum number of spans in one export',
    parse: wholeNumber(1, MAX_QUEUE),
    default: '512',
  }),
  delay: defaulted({
    variable: 'OTEL_BSP_SCHEDULE_DELAY',
    help: 'Milliseconds between two exports of spans',
    parse: MILLISECONDS,
    default: '5000',
  }),
  spanTimeout: defaulted({
    variable: 'OTEL_BSP_EXPORT_TIMEOUT',
    help: 'Time limit of an export of spans with its retries, in milliseconds',
    parse: MILLISECONDS,
    default: '30000',
  }),
  metricInterval: defaulted({
    variable: 'OTEL_METRIC_EXPORT_INTERVAL',
    help: 'Milliseconds between two exports of metrics',
    parse: MILLISECONDS,
    default: '60000',
  }),
  metricTimeout: defaulted({
    variable: 'OTEL_METRIC_EXPORT_TIMEOUT',
    help: 'Time limit of an export of metrics with its retries, in milliseconds; at most the interval',
    parse: MILLISECONDS,
    default: '30000',
  }),
  temporality: defaulted({
    variable: 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE',
    help: 'Whether metrics count from the start of a worker or from the last export',
    parse: (text) => keyword('cumulative', 'delta', 'lowmemory')(text.toLowerCase()),
    default: 'cumulative',
  }),
  spanValueLength: declared({
    variable: 'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
    help: 'Maximum length of an attribute value in characters (default: unlimited)',
    parse: LENGTH,
  }),
  valueLength: declared({
    variable: 'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
    help: 'The same limit, for spans without one of their own',
    parse: LENGTH,
  }),
  captureContent: defaulted({
    variable: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
    help: 'Add arguments, prompts and replies to spans',
    parse: yesOrNo,
    default: 'false',
  }),
};

/** The form of a variable for one signal, such as `OTEL_EXPORTER_OTLP_TRACES_TIMEOUT`. */
export function variableOfSignal(variable: string, signal: Signal): string {
  return variable.replace('_OTLP_', `_OTLP_${signal}_`);
}

/** Infers the type of a variable's value from its parser. */
function declared<Value>(variable: TelemetryVariable<Value>): TelemetryVariable<Value> {
  return variable;
}

function defaulted<Value>(variable: DefaultedVariable<Value>): DefaultedVariable<Value> {
  return variable;
}

function address(text: string): Result<string, string> {
  const isWeb = URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol);
  return isWeb ? ok(text) : err('an http or https URL such as http://localhost:4318');
}

function protocol(text: string): Result<undefined, string> {
  return text === 'http/protobuf' ? ok(undefined) : err('http/protobuf, the only protocol that svc supports');
}

function ratio(text: string): Result<number, string> {
  const value = /^\d(?:\.\d+)?$/u.test(text) ? Number(text) : 2;
  return value <= 1 ? ok(value) : err('a share from 0 to 1, such as 0.1');
}

function propagators(text: string): Result<readonly Propagator[], string> {
  const names = text.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === 'none') return ok([]);
  const known = names.filter((name): name is Propagator => name === 'tracecontext' || name === 'baggage');
  return known.length === names.length ? ok(known) : err('a list of tracecontext and baggage, or none');
}

/** Keys and values with percent-encoding, such as `a=1,b=x%20y`. */
function pairs(text: string): Result<Readonly<Record<string, string>>, string> {
  const entries = text.split(',').filter((pair) => pair.trim() !== '');
  const read = entries.map((pair) => /^\s*([^=\s]+)\s*=(.*)$/su.exec(pair));
  const values = read.map((match) => [match?.[1], percentDecoded(match?.[2]?.trim() ?? '')] as const);
  const isWrong = values.some(([name, value]) => name === undefined || value === undefined);
  return isWrong ? err('a list of pairs such as name=value,other=value') : ok(Object.fromEntries(values));
}

// --- the settings that follow from them -------------------------------------------------------------------------------

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

function ofSignal<Value>(of: TelemetryVariable<Value>, signal: Signal): TelemetryVariable<Value> {
  return { ...of, variable: variableOfSignal(of.variable, signal) };
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

  value<Value>(of: DefaultedVariable<Value>): Value {
    const fallback = of.parse(of.default);
    invariant(fallback.ok, `the default of ${of.variable} is not allowed`);
    return this.optional(of) ?? fallback.value;
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
