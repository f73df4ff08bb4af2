import { err, ok } from '../base/result.ts';
import { keyword, wholeNumber, yesOrNo, type ParseValue } from './setting-values.ts';

/** The settings of OpenTelemetry, from its standard variables: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
export interface TelemetrySettings {
  /** Absent: svc exports no traces. */
  readonly traces?: TraceSettings;
  /** Absent: svc exports no metrics. */
  readonly metrics?: MetricSettings;
  readonly propagators: readonly Propagator[];
  /** Attributes of the process, with `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** Whether spans contain arguments, prompts and replies. */
  readonly captureContent: boolean;
}

export interface ExportTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly compression: 'gzip' | 'none';
}

export interface TraceSettings extends ExportTarget {
  readonly sampler: (typeof SAMPLERS)[number];
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
  readonly temporality: (typeof TEMPORALITIES)[number];
}

type Propagator = 'tracecontext' | 'baggage';

const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

const TEMPORALITIES = ['cumulative', 'delta', 'lowmemory'] as const;

/** The maximum size of the span queue of a process. More spans could fill its memory. */
const MAX_QUEUE = 100_000;

/** One day. A longer time is a mistake. */
const MAX_MS = 86_400_000;

const MILLISECONDS = wholeNumber(1, MAX_MS);

type Signal = 'TRACES' | 'METRICS';

type Variables = Readonly<Record<string, string>>;

/** Reports a variable whose value is not allowed; `allowed` completes `NAME is "x", but must be …`. */
type Refuse = (variable: string, allowed: string) => void;

/**
 * Reads the settings of OpenTelemetry. Returns undefined if no variable names a receiver, or if `OTEL_SDK_DISABLED` is true; then no
 * other variable is checked. After a call of `refuse`, the result is void.
 */
export function telemetrySettings(variables: Variables, refuse: Refuse): TelemetrySettings | undefined {
  const read = new VariableReader(variables, refuse);
  const endpoint = read.optional('OTEL_EXPORTER_OTLP_ENDPOINT', address);
  const addresses = { TRACES: addressOf('TRACES', endpoint, read), METRICS: addressOf('METRICS', endpoint, read) };
  if (addresses.TRACES === undefined && addresses.METRICS === undefined) return undefined;
  if (read.or('OTEL_SDK_DISABLED', yesOrNo, false)) return undefined;
  const traces = exports('TRACES', read) ? addresses.TRACES : undefined;
  const metrics = exports('METRICS', read) ? addresses.METRICS : undefined;
  if (traces === undefined && metrics === undefined) return undefined;
  return {
    ...(traces === undefined ? {} : { traces: traceSettings(traces, read) }),
    ...(metrics === undefined ? {} : { metrics: metricSettings(metrics, read) }),
    propagators: read.or('OTEL_PROPAGATORS', propagators, ['tracecontext', 'baggage']),
    resource: {
      'service.name': 'svc',
      ...read.or('OTEL_RESOURCE_ATTRIBUTES', pairs, {}),
      ...read.or<Variables>('OTEL_SERVICE_NAME', (text) => ok({ 'service.name': text }), {}),
    },
    captureContent: read.or('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', yesOrNo, false),
  };
}

/** The values of export headers, which often contain a key. */
export function exportSecrets(variables: Variables): readonly string[] {
  const names = ['OTEL_EXPORTER_OTLP_HEADERS', ...signals('HEADERS')];
  return names.flatMap((name) => {
    const headers = pairs(variables[name] ?? '');
    // Such as `Bearer KEY`.
    return headers.ok ? Object.values(headers.value).flatMap((value) => [value, value.split(' ').at(-1) ?? '']) : [];
  });
}

function signals(suffix: string): readonly string[] {
  return ['TRACES', 'METRICS'].map((signal) => `OTEL_EXPORTER_OTLP_${signal}_${suffix}`);
}

/** The URL of a signal: its own URL unchanged, or the common URL with the path of the signal. */
function addressOf(signal: Signal, common: string | undefined, read: VariableReader): string | undefined {
  const own = read.optional(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, address);
  if (own !== undefined || common === undefined) return own;
  return `${common.replace(/\/$/u, '')}/v1/${signal.toLowerCase()}`;
}

function exports(signal: Signal, read: VariableReader): boolean {
  return read.or(`OTEL_${signal}_EXPORTER`, keyword('otlp', 'none'), 'otlp') === 'otlp';
}

/** A variable of the signal takes precedence; headers of both are joined. */
function target(url: string, signal: Signal, read: VariableReader): ExportTarget {
  const prefixes = [`OTEL_EXPORTER_OTLP_${signal}_`, 'OTEL_EXPORTER_OTLP_'];
  const first = <Value>(name: string, parse: ParseValue<Value>, fallback: Value): Value =>
    prefixes.map((prefix) => read.optional(prefix + name, parse)).find((value) => value !== undefined) ?? fallback;
  first('PROTOCOL', protocol, undefined);
  const headers = prefixes.map((prefix) => read.or(`${prefix}HEADERS`, pairs, {}));
  return {
    url,
    headers: { ...headers[1], ...headers[0] },
    timeoutMs: first('TIMEOUT', MILLISECONDS, 10_000),
    compression: first('COMPRESSION', keyword('gzip', 'none'), 'none'),
  };
}

function traceSettings(url: string, read: VariableReader): TraceSettings {
  const maxQueueSize = read.or('OTEL_BSP_MAX_QUEUE_SIZE', wholeNumber(1, MAX_QUEUE), 2048);
  return {
    ...target(url, 'TRACES', read),
    sampler: read.or('OTEL_TRACES_SAMPLER', keyword(...SAMPLERS), 'parentbased_always_on'),
    sampledShare: read.or('OTEL_TRACES_SAMPLER_ARG', ratio, 1),
    maxQueueSize,
    maxBatchSize: Math.min(maxQueueSize, read.or('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', wholeNumber(1, MAX_QUEUE), 512)),
    delayMs: read.or('OTEL_BSP_SCHEDULE_DELAY', MILLISECONDS, 5_000),
    exportTimeoutMs: read.or('OTEL_BSP_EXPORT_TIMEOUT', MILLISECONDS, 30_000),
    maxValueLength:
      read.optional('OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT', wholeNumber(1, 2 ** 30)) ??
      read.optional('OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', wholeNumber(1, 2 ** 30)),
  };
}

function metricSettings(url: string, read: VariableReader): MetricSettings {
  const intervalMs = read.or('OTEL_METRIC_EXPORT_INTERVAL', MILLISECONDS, 60_000);
  return {
    ...target(url, 'METRICS', read),
    intervalMs,
    exportTimeoutMs: Math.min(intervalMs, read.or('OTEL_METRIC_EXPORT_TIMEOUT', MILLISECONDS, 30_000)),
    temporality: read.or(
      'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE',
      (text) => keyword(...TEMPORALITIES)(text.toLowerCase()),
      'cumulative',
    ),
  };
}

class VariableReader {
  readonly #variables: Variables;
  readonly #refuse: Refuse;

  constructor(variables: Variables, refuse: Refuse) {
    this.#variables = variables;
    this.#refuse = refuse;
  }

  or<Value>(variable: string, parse: ParseValue<Value>, fallback: Value): Value {
    return this.optional(variable, parse) ?? fallback;
  }

  /** An empty variable counts as unset. */
  optional<Value>(variable: string, parse: ParseValue<Value>): Value | undefined {
    const text = this.#variables[variable]?.trim() ?? '';
    if (text === '') return undefined;
    const parsed = parse(text);
    if (parsed.ok) return parsed.value;
    this.#refuse(variable, parsed.failure);
    return undefined;
  }
}

const address: ParseValue<string> = (text) => {
  const isWeb = URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol);
  return isWeb ? ok(text) : err('an http or https URL such as http://localhost:4318');
};

const protocol: ParseValue<undefined> = (text) =>
  text === 'http/protobuf' ? ok(undefined) : err('http/protobuf, the only protocol that svc supports');

const ratio: ParseValue<number> = (text) => {
  const value = /^\d(?:\.\d+)?$/u.test(text) ? Number(text) : 2;
  return value <= 1 ? ok(value) : err('a share from 0 to 1, such as 0.1');
};

const propagators: ParseValue<readonly Propagator[]> = (text) => {
  const names = text.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === 'none') return ok([]);
  const known = names.filter((name): name is Propagator => name === 'tracecontext' || name === 'baggage');
  return known.length === names.length ? ok(known) : err('a list of tracecontext and baggage, or none');
};

/** Keys and values with percent-encoding, such as `a=1,b=x%20y`. */
const pairs: ParseValue<Readonly<Record<string, string>>> = (text) => {
  const entries = text.split(',').filter((pair) => pair.trim() !== '');
  const read = entries.map((pair) => /^\s*([^=\s]+)\s*=(.*)$/su.exec(pair));
  const values = read.map((match) => [match?.[1], decoded(match?.[2]?.trim())] as const);
  const isWrong = values.some(([name, value]) => name === undefined || value === undefined);
  return isWrong ? err('a list of pairs such as name=value,other=value') : ok(Object.fromEntries(values));
};

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
