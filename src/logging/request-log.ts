import type { Config } from '../config/config.ts';
import type { LogFields, Logger } from './logger.ts';
import { createRedactor } from './redactor.ts';
import { hasOptions, requestSecrets } from './request-secrets.ts';

/** What is known of one finished request. Everything but the first line may be absent. */
export interface RequestEntry {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** From the first byte of the request to the last one of the answer, in milliseconds. */
  readonly ms: number;
  readonly functionName?: string | undefined;
  readonly client?: string | undefined;
  readonly model?: string | undefined;
  readonly attempts?: number | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly modelMs?: number | undefined;
  readonly firstTextMs?: number | undefined;
  readonly finishReason?: string | undefined;
  /** How the reply was repaired, and where in its value. */
  readonly flags?: readonly ReplyFlag[] | undefined;
  /** Number of partial results that were sent. */
  readonly partials?: number | undefined;
  readonly error?: RequestError | undefined;
  /** The body as it came, and as it was parsed. */
  readonly requestText?: string | undefined;
  readonly requestBody?: unknown;
  /** The body that was sent; of a stream, the final event. */
  readonly responseText?: string | undefined;
  /** Of the last attempt; logged at debug alone. */
  readonly prompt?: unknown;
  readonly rawReply?: string | undefined;
}

interface ReplyFlag {
  readonly flag: string;
  readonly path: string;
}

export interface RequestError {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

export type WriteRequestLog = (entry: RequestEntry) => void;

/** Enough to recognise a call by, and small beside the line's other costs. */
const SHORT_CHARACTERS = 2048;

/** Whoever wants to see every repair of a reply asks for content in full. */
const SHORT_FLAGS = 20;
const SHORT_FLAG_CHARACTERS = 120;

/**
 * A body is redacted before it is cut: the cut could leave the head of a key, which no search finds. This is how far
 * behind the cut a credential may end that nobody configured; configured ones are measured.
 */
const LONGEST_UNKNOWN_SECRET = 256;

/** Of one request. */
const MOST_SECRETS = 64;

/** Messages of these failures hold nothing that a caller or a model wrote. */
const PLAIN_MESSAGES: ReadonlySet<string> = new Set([
  'missing_credential',
  'timeout',
  'overloaded',
  'draining',
  'cancelled',
  'request_timeout',
  'payload_too_large',
]);

/**
 * One line for each request: info when it succeeded, warn when the caller was wrong, error when we or a provider failed.
 * At debug a second line has prompt and reply. `SVC_LOG_CONTENT` decides how much of what callers and models wrote is in
 * them.
 */
export function createRequestLog(logger: Logger, config: Pick<Config, 'logContent' | 'secrets'>): WriteRequestLog {
  const content = contentOf(config);
  return (entry) => {
    const level = requestLogLevel(entry.status);
    if (!logger.enabled(level)) return;
    const hide = hiderFor(entry.requestBody);
    const show = (text: string | undefined) => content(text, hide);
    logger[level](requestFields(entry, show, config.logContent), 'request');
    if (logger.enabled('debug') && entry.prompt !== undefined) {
      const prompt = show(JSON.stringify(entry.prompt));
      logger.debug({ requestId: entry.requestId, prompt, reply: show(entry.rawReply) }, 'model');
    }
  };
}

type Content = (text: string | undefined, hide: (text: string) => string) => string | undefined;

function contentOf(config: Pick<Config, 'logContent' | 'secrets'>): Content {
  if (config.logContent === 'none') return () => undefined;
  if (config.logContent === 'full') return (text, hide) => (text === undefined ? undefined : hide(text));
  const redactor = createRedactor(config.secrets);
  // Twice its length: inside JSON every character of a key may be escaped.
  const reach = Math.max(LONGEST_UNKNOWN_SECRET, ...config.secrets.map((secret) => secret.length * 2));
  return (text, hide) => {
    if (text === undefined) return undefined;
    const own = hide(text);
    if (own.length <= SHORT_CHARACTERS) return own;
    const clean = redactor.redact(own.slice(0, SHORT_CHARACTERS + reach));
    return `${clean.slice(0, SHORT_CHARACTERS)}… (${String(text.length)} characters)`;
  };
}

/** Hides the credentials of this one request; for nearly all of them there are none. Each is searched for by itself. */
function hiderFor(body: unknown): (text: string) => string {
  const secrets = requestSecrets(body);
  if (secrets.length === 0) return unchanged;
  if (secrets.length > MOST_SECRETS) return () => `[not logged: the request brings ${secrets.length} credentials]`;
  const redactor = createRedactor(secrets);
  return (text) => redactor.redact(text);
}

function unchanged(text: string): string {
  return text;
}

/** The level of a request's line: who does not want it need not gather what stands in it. */
export function requestLogLevel(status: number): 'info' | 'warn' | 'error' {
  if (status >= 500) return 'error';
  return status >= 400 ? 'warn' : 'info';
}

type Show = (text: string | undefined) => string | undefined;

function requestFields(entry: RequestEntry, show: Show, logContent: Config['logContent']): LogFields {
  return {
    requestId: entry.requestId,
    method: entry.method,
    path: entry.path,
    function: entry.functionName,
    status: entry.status,
    ms: rounded(entry.ms),
    client: entry.client,
    model: entry.model,
    attempts: entry.attempts,
    inputTokens: entry.inputTokens,
    outputTokens: entry.outputTokens,
    modelMs: rounded(entry.modelMs),
    firstTextMs: rounded(entry.firstTextMs),
    finishReason: entry.finishReason,
    flags: flagTexts(entry.flags ?? [], show, logContent),
    partials: entry.partials,
    ...errorFields(entry.error, show, logContent === 'none'),
    request: show(requestText(entry)),
    response: show(entry.responseText),
  };
}

/** Credentials are looked for in what was parsed: as it came, a text may spell them in another way, or say them twice. */
function requestText({ requestBody, requestText: asItCame }: RequestEntry): string | undefined {
  return hasOptions(requestBody) ? JSON.stringify(requestBody) : asItCame;
}

/** `dropped-item people[2]`, and so on. A path can hold keys that a model wrote: without content only the words are left. */
function flagTexts(
  flags: readonly ReplyFlag[],
  show: Show,
  logContent: Config['logContent'],
): readonly string[] | undefined {
  if (flags.length === 0) return undefined;
  if (logContent === 'none') return [...new Set(flags.map(({ flag }) => flag))];
  const texts = flags.map(({ flag, path }) => show(`${flag} ${path}`.trimEnd()) ?? flag);
  if (logContent === 'full') return texts;
  const more = flags.length > SHORT_FLAGS ? [`… (${String(flags.length)} flags)`] : [];
  return [...texts.slice(0, SHORT_FLAGS).map(shortened), ...more];
}

function shortened(text: string): string {
  return text.length <= SHORT_FLAG_CHARACTERS ? text : `${text.slice(0, SHORT_FLAG_CHARACTERS)}…`;
}

function errorFields(error: RequestError | undefined, show: Show, contentOff: boolean): LogFields {
  if (error === undefined) return {};
  if (contentOff) {
    return PLAIN_MESSAGES.has(error.code) ? { error: error.code, reason: error.message } : { error: error.code };
  }
  const details = error.details === undefined ? undefined : show(JSON.stringify(error.details));
  return { error: error.code, reason: show(error.message), details };
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 10) / 10;
}
