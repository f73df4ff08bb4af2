import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { TelemetrySettings } from '../../src/config/telemetry-settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318/' };

type Variables = Readonly<Record<string, string>>;

function load(variables: Variables) {
  return loadConfig({ dotenv: false }, { variables });
}

function settings(variables: Variables): TelemetrySettings | undefined {
  const loaded = load(variables);
  if (!loaded.ok) throw new Error(loaded.failure.message);
  return loaded.value.config.telemetry;
}

function fault(variables: Variables): string | undefined {
  const loaded = load({ ...ENDPOINT, ...variables });
  return loaded.ok ? undefined : loaded.failure.message;
}

test.each<[string, Variables]>([
  ['no variable names a receiver', { OTEL_TRACES_SAMPLER: 'nonsense', OTEL_SERVICE_NAME: 'x' }],
  ['the receiver is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ['the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true', OTEL_TRACES_SAMPLER: 'nonsense' }],
  ['both exporters are off', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
])('telemetry is off if %s', (_, variables) => {
  expect(settings(variables)).toBeUndefined();
});

test('the defaults are those of the standard', () => {
  const target = { headers: {}, timeoutMs: 10_000, compression: 'none' };
  expect(settings(ENDPOINT)).toEqual({
    traces: {
      ...target,
      url: 'http://localhost:4318/v1/traces',
      sampler: 'parentbased_always_on',
      sampledShare: 1,
      maxQueueSize: 2048,
      maxBatchSize: 512,
      delayMs: 5000,
      exportTimeoutMs: 30_000,
      maxValueLength: undefined,
    },
    metrics: {
      ...target,
      url: 'http://localhost:4318/v1/metrics',
      intervalMs: 60_000,
      exportTimeoutMs: 30_000,
      temporality: 'cumulative',
    },
    propagators: ['tracecontext', 'baggage'],
    resource: { 'service.name': 'svc' },
    captureContent: false,
  });
});

test('the address of one signal is complete, and turns on that signal only', () => {
  const read = settings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://host/own/path' });
  expect(read?.traces?.url).toBe('https://host/own/path');
  expect(read?.metrics).toBeUndefined();
});

test('a variable of one signal takes precedence, and headers of both are joined', () => {
  const read = settings({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '700',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=two%20words',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=3',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  });
  expect(read?.traces).toMatchObject({ timeoutMs: 700, headers: { a: '3', b: 'two words' }, compression: 'gzip' });
  expect(read?.metrics).toMatchObject({ timeoutMs: 500, headers: { a: '1', b: 'two words' }, compression: 'gzip' });
});

test('the name of the service takes precedence over the attributes', () => {
  const attributes = 'service.name=a,deployment.environment.name=prod%2Ceu';
  const read = settings({ ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: attributes, OTEL_SERVICE_NAME: 'b' });
  expect(read?.resource).toEqual({ 'service.name': 'b', 'deployment.environment.name': 'prod,eu' });
});

test('limits fit together', () => {
  const read = settings({
    ...ENDPOINT,
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    OTEL_PROPAGATORS: 'none',
  });
  expect(read?.traces).toMatchObject({ maxQueueSize: 10, maxBatchSize: 10 });
  expect(read?.metrics).toMatchObject({ intervalMs: 1000, exportTimeoutMs: 1000 });
  expect(read?.propagators).toEqual([]);
});

test.each<[string, string, string]>([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318', 'an http or https URL such as http://localhost:4318'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'http/protobuf, the only protocol that svc supports'],
  ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'http/json', 'http/protobuf, the only protocol that svc supports'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', 'a whole number from 1 to 86400000'],
  ['OTEL_TRACES_SAMPLER_ARG', '10', 'a share from 0 to 1, such as 0.1'],
  ['OTEL_PROPAGATORS', 'b3', 'a list of tracecontext and baggage, or none'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a', 'a list of pairs such as name=value,other=value'],
  ['OTEL_TRACES_EXPORTER', 'console', 'one of otlp, none'],
  ['OTEL_SDK_DISABLED', 'maybe', 'true or false'],
])('%s cannot be %s', (variable, value, allowed) => {
  expect(fault({ [variable]: value })).toBe(`${variable} is "${value}", but must be ${allowed}`);
});

test('a wrong sampler names the nearest one', () => {
  expect(fault({ OTEL_TRACES_SAMPLER: 'traceidratioo' })).toContain('Did you mean "traceidratio"?');
});

test('a fault of headers does not show them, and their values are secrets', () => {
  expect(fault({ OTEL_EXPORTER_OTLP_HEADERS: 'the-key' })).toBe(
    'OTEL_EXPORTER_OTLP_HEADERS must be a list of pairs such as name=value,other=value',
  );
  const loaded = load({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20export-key' });
  expect(loaded.ok && loaded.value.config.secrets).toEqual(['Bearer export-key', 'export-key']);
});
