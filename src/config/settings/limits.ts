import { CALLS_OF_ALL_WORKERS, setting } from '../setting.ts';
import { MIB, duration, keyword, share, size, wholeNumber } from '../setting-values.ts';

/** The limits of requests. */
export const LIMITS_SETTINGS = {
  requestTimeoutMs: setting({
    flag: '--request-timeout <duration>',
    variable: 'SVC_REQUEST_TIMEOUT',
    group: 'Limits',
    help: 'Longest time for a call, including retries and fallbacks',
    parse: duration(1),
    // Providers cut most non-streamed completions at ten minutes; half of it is long for a caller who waits.
    default: '5m',
  }),
  streamTimeoutMs: setting({
    flag: '--stream-timeout <duration>',
    variable: 'SVC_STREAM_TIMEOUT',
    group: 'Limits',
    help: 'Longest time for a stream',
    parse: duration(1),
    default: '10m',
  }),
  maxBodyBytes: setting({
    flag: '--max-body <size>',
    variable: 'SVC_MAX_BODY',
    group: 'Limits',
    help: 'Largest request body',
    // V8 cannot hold a string above 512 MiB, and a body becomes one.
    parse: size(1, 512 * MIB - 1),
    default: '10MiB',
  }),
  /** For all workers together. */
  maxInFlight: setting({
    flag: '--max-in-flight <n>',
    variable: 'SVC_MAX_IN_FLIGHT',
    group: 'Limits',
    help: 'Calls that the workers together serve at once',
    parse: wholeNumber(1, 1_000_000),
    default: CALLS_OF_ALL_WORKERS,
  }),
  /** For all workers together. */
  maxQueue: setting({
    flag: '--max-queue <n>',
    variable: 'SVC_MAX_QUEUE',
    group: 'Limits',
    help: 'Calls that can wait while --max-in-flight is reached; svc answers further calls with 503',
    parse: wholeNumber(0, 1_000_000),
    default: CALLS_OF_ALL_WORKERS,
  }),
  /** From 0 to 1. */
  callerShare: setting({
    flag: '--caller-share <share>',
    variable: 'SVC_CALLER_SHARE',
    group: 'Limits',
    help: 'Share of slots, waiting types and body memory that one address can use for its own clients, types and bodies',
    parse: share,
    // Only four addresses together can keep all others out, and one that brings its own clients still gets a useful share.
    default: '25%',
  }),
  coolDown: setting({
    flag: '--cool-down <policy>',
    variable: 'SVC_COOL_DOWN',
    group: 'Limits',
    help: 'Whether fallback and round-robin clients pass over members that keep failing: on or off',
    parse: keyword('on', 'off'),
    default: 'on',
  }),
};
