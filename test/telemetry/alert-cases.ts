/** Series of Prometheus with their values each minute, in the notation of promtool. */
type Samples = Readonly<Record<string, string>>;

export interface AlertCase {
  readonly alert: string;
  /** After half an hour of these, the alert fires with these labels. */
  readonly fires: Samples;
  readonly labels: Readonly<Record<string, string>>;
  /** After half an hour of these, the alert does not fire. */
  readonly silent: Samples;
}

const SERVER = { job: 'svc', instance: 'a' } as const;

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'SvcAbsent',
    fires: { 'up{job="svc"}': '0x40' },
    labels: {},
    silent: { 'svc_workers{job="svc"}': '2x40' },
  },
  {
    alert: 'SvcCallsFail',
    fires: {
      'svc_requests_total{job="svc",function="F",route="call",status="200"}': '0+90x40',
      'svc_requests_total{job="svc",function="F",route="call",status="502"}': '0+10x40',
    },
    labels: { job: 'svc', function: 'F' },
    silent: {
      'svc_requests_total{job="svc",function="F",route="call",status="200"}': '0+90x40',
      'svc_requests_total{job="svc",function="F",route="call",status="400"}': '0+10x40',
    },
  },
  {
    alert: 'SvcCallsSlow',
    fires: {
      'svc_request_duration_seconds_bucket{job="svc",function="F",le="30"}': '0+90x40',
      'svc_request_duration_seconds_bucket{job="svc",function="F",le="60"}': '0+100x40',
      'svc_request_duration_seconds_bucket{job="svc",function="F",le="+Inf"}': '0+100x40',
    },
    labels: { job: 'svc', function: 'F' },
    silent: {
      'svc_request_duration_seconds_bucket{job="svc",function="F",le="30"}': '0+96x40',
      'svc_request_duration_seconds_bucket{job="svc",function="F",le="+Inf"}': '0+100x40',
    },
  },
  {
    alert: 'SvcOverloaded',
    fires: { 'svc_failures_total{job="svc",function="F",error="overloaded"}': '0+1x40' },
    labels: { job: 'svc' },
    silent: { 'svc_failures_total{job="svc",function="F",error="overloaded"}': '9x40' },
  },
  {
    alert: 'SvcCallsWait',
    fires: { 'svc_queue_length{job="svc",instance="a"}': '3x40' },
    labels: SERVER,
    silent: { 'svc_queue_length{job="svc",instance="a"}': '0x40' },
  },
  {
    alert: 'SvcClientFails',
    fires: {
      'svc_attempts_total{job="svc",client="Main",outcome="ok"}': '0+70x40',
      'svc_attempts_total{job="svc",client="Main",outcome="client_error"}': '0+30x40',
    },
    labels: { job: 'svc', client: 'Main' },
    silent: {
      'svc_attempts_total{job="svc",client="Main",outcome="ok"}': '0+70x40',
      'svc_attempts_total{job="svc",client="Main",outcome="validation_failure"}': '0+30x40',
    },
  },
  {
    alert: 'SvcFallsBack',
    fires: {
      'svc_requests_total{job="svc",function="F",route="call",status="200"}': '0+100x40',
      'svc_repeated_attempts_total{job="svc",client="Other",kind="fallback"}': '0+20x40',
    },
    labels: { job: 'svc' },
    silent: {
      'svc_requests_total{job="svc",function="F",route="call",status="200"}': '0+100x40',
      'svc_repeated_attempts_total{job="svc",client="Other",kind="retry"}': '0+20x40',
    },
  },
  {
    alert: 'SvcRepliesUnusable',
    fires: {
      'svc_replies_total{job="svc",function="F",outcome="clean"}': '0+80x40',
      'svc_replies_total{job="svc",function="F",outcome="lossy"}': '0+20x40',
    },
    labels: { job: 'svc', function: 'F' },
    silent: {
      'svc_replies_total{job="svc",function="F",outcome="clean"}': '0+80x40',
      'svc_replies_total{job="svc",function="F",outcome="repaired"}': '0+20x40',
    },
  },
  {
    alert: 'SvcParseLimits',
    fires: { 'svc_parse_limits_total{job="svc",limit="steps"}': '0x24 1x20' },
    labels: { job: 'svc', limit: 'steps' },
    silent: { 'svc_parse_limits_total{job="svc",limit="steps"}': '1x40' },
  },
  {
    alert: 'SvcWorkersCrash',
    fires: { 'svc_worker_restarts_total{job="svc",instance="a",reason="crash"}': '0+1x40' },
    labels: SERVER,
    silent: { 'svc_worker_restarts_total{job="svc",instance="a",reason="reload"}': '0+1x40' },
  },
  {
    alert: 'SvcWorkersMissing',
    fires: { 'svc_workers{job="svc",instance="a"}': '4x20 3x20' },
    labels: SERVER,
    silent: { 'svc_workers{job="svc",instance="a"}': '3x20 4x20' },
  },
  {
    alert: 'SvcWorkersBusy',
    fires: {
      'svc_event_loop_busy_seconds_total{job="svc",instance="a"}': '0+110x40',
      'svc_workers{job="svc",instance="a"}': '2x40',
    },
    labels: SERVER,
    silent: {
      'svc_event_loop_busy_seconds_total{job="svc",instance="a"}': '0+60x40',
      'svc_workers{job="svc",instance="a"}': '2x40',
    },
  },
  {
    alert: 'SvcEventLoopBlocked',
    fires: { 'svc_worker_event_loop_delay_seconds{job="svc",instance="a",worker="2"}': '1.5x40' },
    labels: { ...SERVER, worker: '2' },
    silent: { 'svc_worker_event_loop_delay_seconds{job="svc",instance="a",worker="2"}': '0.5x40' },
  },
  {
    alert: 'SvcConnectionsMissing',
    fires: { 'svc_upstream_requests{job="svc",instance="a",protocol="http/1.1",state="waiting"}': '20x40' },
    labels: SERVER,
    silent: { 'svc_upstream_requests{job="svc",instance="a",protocol="http/1.1",state="active"}': '20x40' },
  },
  {
    alert: 'SvcLogLinesLost',
    fires: { 'svc_log_lines_dropped_total{job="svc",instance="a"}': '0+5x40' },
    labels: SERVER,
    silent: { 'svc_log_lines_dropped_total{job="svc",instance="a"}': '5x40' },
  },
  {
    alert: 'SvcTelemetryLost',
    fires: { 'svc_telemetry_dropped_total{job="svc",instance="a",signal="traces"}': '0+5x40' },
    labels: SERVER,
    silent: { 'svc_telemetry_dropped_total{job="svc",instance="a",signal="traces"}': '5x40' },
  },
];
