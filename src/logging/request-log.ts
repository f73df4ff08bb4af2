import { OPTIONS_KEYS } from '../base/options-keys.ts';
import { isJsonObject, ownValue } from '../base/json.ts';
import type { Config } from '../config/config.ts';
import type { LogFields, Logger } from './logger.ts';
import { createRedactor } from './redactor.ts';

/** The facts about one finished request. Only the first five are always known. */
export interface RequestEntry {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Milliseconds from the first byte of the request to the last byte of the response. */
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
  /** The repairs of the reply, each with its path in the value. */
  readonly flags?: ReadonlyArray<{ readonly flag: string; readonly path: string }> | undefined;
  /** The counts of what the value lacks. */
  readonly losses?: { readonly dropped: number; readonly defaulted: number } | undefined;
  /** Number of partial results that were sent. */
  readonly partials?: number | undefined;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown } | undefined;
  /** The body as received, and parsed. */
  readonly requestText?: string | undefined;
  readonly requestBody?: unknown;
  /** The body that was sent; for a stream, its last event. */
  readonly responseText?: string | undefined;
  /** Of the last attempt; logged at debug only. */
  readonly prompt?: unknown;
  readonly rawReply?: string | undefined;
}

export type WriteRequestLog = (entry: RequestEntry) => void;

/** Enough to recognise a call, and a small part of the cost of its line. */
const SHORT_CHARACTERS = 2048;

/** `--log-content full` shows every repair of a reply. */
const SHORT_FLAGS = 20;
const SHORT_FLAG_CHARACTERS = 120;

/**
 * svc redacts a body before it cuts it: the cut could leave the head of a credential, which no search finds. This is how far
 * behind the cut an unknown credential can end; the known ones are measured.
 */
const LONGEST_UNKNOWN_SECRET = 256;

/** Of one request. Each is searched for in each text. */
const MOST_REQUEST_SECRETS = 64;

/** The messages of these failures contain nothing that a caller or a model wrote. */
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
 * Writes one line for each request: at info if it succeeded, at warn if the caller made a mistake, at error if svc or a
 * provider failed. At debug, a second line has the prompt and the reply. `logContent` decides how much the lines contain of
 * the texts that callers and models wrote.
 */
export function createRequestLog(logger: Logger, config: Pick<Config, 'logContent' | 'secrets'>): WriteRequestLog {
  const shorten = config.logContent === 'short' ? createShortener(config.secrets) : unchanged;
  return (entry) => {
    const level = requestLogLevel(entry.status);
    if (!logger.enabled(level)) return;
    const hideSecrets = redactionFor(entry.requestBody);
    const show = (text: string | undefined) => {
      return text === undefined || config.logContent === 'none' ? undefined : shorten(hideSecrets(text), text.length);
    };
    logger[level](requestFields(entry, show, config.logContent), 'request');
    if (logger.enabled('debug') && entry.prompt !== undefined) {
      const prompt = show(JSON.stringify(entry.prompt));
      logger.debug({ requestId: entry.requestId, prompt, reply: show(entry.rawReply) }, 'model');
    }
  };
}

/** The level of a request's line. A caller can ask the logger first, and skip gathering the entry. */
export function requestLogLevel(status: number): 'info' | 'warn' | 'error' {
  if (status >= 500) return 'error';
  return status >= 400 ? 'warn' : 'info';
}

/** The text that a line can contain; undefined if it must not contain any. */
type Show = (text: string | undefined) => string | undefined;

function unchanged(text: string): string {
  return text;
}

/** Returns a function that cuts a text and appends its full length. */
function createShortener(secrets: readonly string[]): (text: string, fullLength: number) => string {
  const redactor = createRedactor(secrets);
  // Twice the length: inside JSON, every character of a key can be escaped.
  const reach = Math.max(LONGEST_UNKNOWN_SECRET, ...secrets.map((secret) => secret.length * 2));
  return (text, fullLength) => {
    if (text.length <= SHORT_CHARACTERS) return text;
    const clean = redactor.redact(text.slice(0, SHORT_CHARACTERS + reach));
    return `${clean.slice(0, SHORT_CHARACTERS)}… (${String(fullLength)} characters)`;
  };
}

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
    losses: lossesOf(entry.losses),
    partials: entry.partials,
    ...errorFields(entry.error, show, logContent),
    request: show(requestTextOf(entry)),
    response: show(entry.responseText),
  };
}

/** A body with options is logged as it was parsed: as received, it can escape a credential, or repeat a key. */
function requestTextOf({ requestBody, requestText }: RequestEntry): string | undefined {
  const hasOptions = isJsonObject(requestBody) && OPTIONS_KEYS.some((key) => ownValue(requestBody, key) !== undefined);
  return hasOptions ? JSON.stringify(requestBody) : requestText;
}

/** Such as `dropped-item people[2]`. A path can contain keys that a model wrote, so `none` leaves paths out. */
function flagTexts(
  flags: NonNullable<RequestEntry['flags']>,
  show: Show,
  logContent: Config['logContent'],
): readonly string[] | undefined {
  if (flags.length === 0) return undefined;
  if (logContent === 'none') return [...new Set(flags.map(({ flag }) => flag))];
  const texts = flags.map(({ flag, path }) => show(`${flag} ${path}`.trimEnd()) ?? flag);
  if (logContent === 'full') return texts;
  const more = flags.length > SHORT_FLAGS ? [`… (${String(flags.length)} flags)`] : [];
  const shortened = texts.slice(0, SHORT_FLAGS).map((text) => {
    return text.length <= SHORT_FLAG_CHARACTERS ? text : `${text.slice(0, SHORT_FLAG_CHARACTERS)}…`;
  });
  return [...shortened, ...more];
}

/** Returns undefined if the value lacks nothing. */
function lossesOf(losses: RequestEntry['losses']): RequestEntry['losses'] {
  return losses === undefined || losses.dropped + losses.defaulted === 0 ? undefined : losses;
}

function errorFields(error: RequestEntry['error'], show: Show, logContent: Config['logContent']): LogFields {
  if (error === undefined) return {};
  if (logContent === 'none') {
    return PLAIN_MESSAGES.has(error.code) ? { error: error.code, reason: error.message } : { error: error.code };
  }
  const details = error.details === undefined ? undefined : show(JSON.stringify(error.details));
  return { error: error.code, reason: show(error.message), details };
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 10) / 10;
}

/** Keys whose values are not credentials, wherever they appear in the options. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  'base_url',
  'client',
  'default_role',
  'include',
  'max_tokens',
  'model',
  'name',
  'on_loss',
  'primary',
  'provider',
  'retry_policy',
  'strategy',
  'tags',
  'temperature',
]);

const NO_KEYS: ReadonlySet<string> = new Set();

/** Redacting a shorter value would tear holes into ordinary words. */
const MIN_SECRET_LENGTH = 6;

/** Hides the credentials that this request brought. Nearly all requests bring none. */
function redactionFor(body: unknown): (text: string) => string {
  const secrets = requestSecrets(body);
  if (secrets.length === 0) return unchanged;
  if (secrets.length > MOST_REQUEST_SECRETS) {
    return () => `[not logged: the request contains ${secrets.length} credentials]`;
  }
  const redactor = createRedactor(secrets);
  return (text) => redactor.redact(text);
}

/**
 * The credentials in the options of a request: every value of `env`, and every string that is not under a plain key. That
 * includes misplaced strings, since the answer to them is an error, and errors are logged.
 */
function requestSecrets(body: unknown): readonly string[] {
  if (!isJsonObject(body)) return [];
  const found = new Set<string>();
  for (const key of OPTIONS_KEYS) collectStrings(ownValue(body, key), found, PLAIN_KEYS);
  return [...found];
}

/** The recursion is bounded because the depth of bodies is. Inside `env`, any key is the name of a variable. */
function collectStrings(value: unknown, found: Set<string>, plainKeys: ReadonlySet<string>): void {
  if (typeof value === 'string') {
    if (value.length >= MIN_SECRET_LENGTH) found.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (!plainKeys.has(key)) collectStrings(inner, found, key === 'env' ? NO_KEYS : plainKeys);
    }
  }
}
