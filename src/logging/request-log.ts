import { tenths } from '../base/amounts.ts';
import type { Config } from '../config/config.ts';
import type { LogFields, Logger } from './logger.ts';
import { redactedHead, Redactor } from './redactor.ts';
import { requestSecrets, type RequestSecrets } from './request-secrets.ts';

/** The facts about one finished request. Only the first five are always known. */
export interface RequestEntry {
  readonly requestId: string;
  /** The fields that name the trace of the request, if it has one. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Milliseconds from the first byte of the request to the last byte of the response. */
  readonly ms: number;
  readonly functionName?: string | undefined;
  /** The name of the caller's key, if the server has a key file. */
  readonly keyName?: string | undefined;
  readonly tags?: ReadonlyMap<string, string> | undefined;
  /** What happened to the answers that are kept for callers who ask again. */
  readonly kept?: KeptAnswerFields | undefined;
  readonly client?: string | undefined;
  readonly model?: string | undefined;
  readonly attempts?: number | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** US dollars. */
  readonly cost?: number | undefined;
  readonly modelMs?: number | undefined;
  readonly firstTextMs?: number | undefined;
  /** Where the time of a slow call went. */
  readonly times?: CallTimes | undefined;
  readonly finishReason?: string | undefined;
  /** The repairs of the reply, each with its path in the value. */
  readonly flags?: ReadonlyArray<{ readonly flag: string; readonly path: string }> | undefined;
  /** The counts of what the value lacks. */
  readonly losses?: object | undefined;
  readonly partials?: number | undefined;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown } | undefined;
  /** The body as received, and parsed. */
  readonly requestText?: string | undefined;
  readonly requestBody?: unknown;
  /** The names of the function's parameters: their values are data, whatever they are called. */
  readonly parameters?: ReadonlySet<string> | undefined;
  /** The credentials in the body, if they are already known. */
  readonly secrets?: RequestSecrets | undefined;
  /** The body that was sent; for a stream, its last event. */
  readonly responseText?: string | undefined;
  /** Of the last attempt; logged at debug only. */
  readonly prompt?: unknown;
  readonly rawReply?: string | undefined;
  /** The attempts of the call that failed, with their messages; logged at debug only. */
  readonly failedAttempts?: unknown;
}

/** Fields of a request that asks for kept answers. */
export interface KeptAnswerFields {
  readonly cache?: 'hit' | 'miss' | 'bypass';
  /** Milliseconds since the answer of a hit was kept. */
  readonly cacheAgeMs?: number;
  readonly idempotency?: 'first' | 'replayed' | 'conflict';
  /** The first characters of the hash of the caller's key, which can be any text. */
  readonly idempotencyKey?: string;
}

/** The parts of the duration of a call, in milliseconds, in the order in which a call takes them. */
export interface CallTimes {
  /** Until the body arrived. */
  readonly body: number;
  /** Waiting for a slot. */
  readonly queue: number;
  /** Creating the client and rendering the prompt. The sum over all attempts, like the next two. */
  readonly render: number;
  readonly model: number;
  readonly parse: number;
  /** Pauses between attempts, and other work of this process. */
  readonly rest: number;
  /** Each attempt, at most the first 20. */
  readonly attempts: ReadonlyArray<{ readonly client: string; readonly outcome: string; readonly ms: number }>;
}

export interface RequestLog {
  /** True if a call of this duration is slow, so that its line has `times`. */
  isSlow(ms: number): boolean;
  /** Returns the level of a request line; undefined if it is not written. A caller that asks first need not collect the entry. */
  levelOf(status: number, ms: number): RequestLevel | undefined;
  write(level: RequestLevel, entry: RequestEntry): void;
}

type RequestLevel = 'info' | 'warn' | 'error';

export type RequestLogConfig = Pick<Config, 'logContent' | 'logSample' | 'secrets' | 'slowMs'>;

/** Enough to recognise a call, and a small part of the cost of its line. */
const SHORT_CHARACTERS = 2048;

/** `--log-content full` shows every repair of a reply. */
const SHORT_FLAGS = 20;
const SHORT_FLAG_CHARACTERS = 120;

/** `--log-content full` shows every tag of a call. */
const SHORT_TAGS = 20;

/** The messages of these failures contain nothing that a caller or a model wrote. */
const PLAIN_MESSAGES: ReadonlySet<string> = new Set([
  'missing_credential',
  'timeout',
  'overloaded',
  'draining',
  'cancelled',
  'request_timeout',
  'payload_too_large',
  'rate_limited',
]);

export interface RequestLogParts {
  /** By default, one that knows the secrets of the configuration. */
  readonly redactor?: Redactor;
  /** Decides which lines a sample contains; by default, `Math.random`. */
  readonly random?: () => number;
}

/**
 * Writes one line for each request: at info if it succeeded, at warn if it was slow or the caller made a mistake, at error if
 * svc or a provider failed. At debug, a second line has the prompt and the reply. `logContent` sets how much the lines
 * contain of the texts of callers and models. `logSample` is the share of lines at info that are written.
 */
export function createRequestLog(logger: Logger, config: RequestLogConfig, parts: RequestLogParts): RequestLog {
  const { redactor = new Redactor(config.secrets), random = Math.random } = parts;
  const shorten = (text: string, hide: Hide): string => {
    // The line itself is redacted too, but its escapes make that more expensive.
    if (config.logContent !== 'short' || text.length <= SHORT_CHARACTERS) return hide(text);
    const { head } = redactedHead(text, SHORT_CHARACTERS, (window) => redactor.redact(hide(window)));
    return `${head}… (${String(text.length)} characters)`;
  };
  const isSlow = (ms: number) => config.slowMs > 0 && ms >= config.slowMs;
  const isSampled = () => config.logSample === 1 || random() < config.logSample;
  return {
    isSlow,
    levelOf: (status, ms) => {
      const level = levelOf(status, isSlow(ms));
      return logger.enabled(level) && (level !== 'info' || isSampled()) ? level : undefined;
    },
    write: (level, entry) => {
      const secrets = entry.secrets ?? secretsOf(entry);
      const hide = hiding(secrets);
      const show = (text: string | undefined) => {
        if (text === undefined || config.logContent === 'none') return undefined;
        return hide === undefined
          ? `[not logged: the request contains ${secrets.tooMany ?? 'many'} credentials]`
          : shorten(text, hide);
      };
      const finishReason = entry.finishReason === undefined ? undefined : label(entry.finishReason, redactor, hide);
      const { logContent, logSample } = config;
      // Lines at warn and error are never left out.
      const sample = level === 'info' && logSample < 1 ? logSample : undefined;
      logger[level](requestFields({ ...entry, finishReason }, show, { logContent, secrets, sample }), 'request');
      if (logger.enabled('debug') && entry.prompt !== undefined) {
        const prompt = show(JSON.stringify(entry.prompt));
        const failed = entry.failedAttempts === undefined ? undefined : show(JSON.stringify(entry.failedAttempts));
        logger.debug(
          { requestId: entry.requestId, ...entry.trace, prompt, reply: show(entry.rawReply), failed },
          'model',
        );
      }
    },
  };
}

function secretsOf({ requestBody, requestText, parameters, status }: RequestEntry): RequestSecrets {
  return requestSecrets({ value: requestBody, text: requestText, parameters, refused: status === 400 });
}

function levelOf(status: number, isSlow: boolean): RequestLevel {
  if (status >= 500) return 'error';
  return status >= 400 || isSlow ? 'warn' : 'info';
}

/** The text that a line can contain; undefined if it must not contain any. */
type Show = (text: string | undefined) => string | undefined;

type Hide = (text: string) => string;

/** The provider writes a finish reason, usually one of a few words. */
const LONGEST_LABEL = 256;

/** Returns a word from a provider, with the credentials that it echoes masked, and truncated. */
function label(text: string, redactor: Redactor, hide: Hide | undefined): string | undefined {
  if (hide === undefined) return undefined;
  if (text.length <= LONGEST_LABEL) return hide(text);
  return `${redactedHead(text, LONGEST_LABEL, (window) => redactor.redact(hide(window))).head}…`;
}

/** Hides the credentials that this request brought; undefined if there are too many. Nearly all requests bring none. */
function hiding({ values, tooMany }: RequestSecrets): Hide | undefined {
  if (tooMany !== undefined) return undefined;
  if (values.length === 0) return (text) => text;
  const redactor = new Redactor(values);
  return (text) => redactor.redactValues(text);
}

interface ContentRule {
  readonly logContent: Config['logContent'];
  readonly secrets: RequestSecrets;
  /** Such as 0.01, in a line that stands for a hundred requests. */
  readonly sample: number | undefined;
}

function requestFields(entry: RequestEntry, show: Show, { logContent, secrets, sample }: ContentRule): LogFields {
  return {
    requestId: entry.requestId,
    ...entry.trace,
    method: entry.method,
    path: entry.path,
    function: entry.functionName,
    keyName: entry.keyName,
    status: entry.status,
    ms: rounded(entry.ms),
    tags: tagTexts(entry.tags, show, logContent),
    ...entry.kept,
    client: entry.client,
    model: entry.model,
    attempts: entry.attempts,
    inputTokens: entry.inputTokens,
    outputTokens: entry.outputTokens,
    cost: entry.cost,
    modelMs: rounded(entry.modelMs),
    firstTextMs: rounded(entry.firstTextMs),
    times: entry.times,
    finishReason: entry.finishReason,
    flags: flagTexts(entry.flags ?? [], show, logContent),
    losses: lossesOf(entry.losses),
    partials: entry.partials,
    sample,
    ...errorFields(entry.error, show, logContent),
    request: show(requestTextOf(entry, secrets)),
    response: show(entry.responseText),
  };
}

/** An escaped printable character, which no JSON encoder writes: it can hide the name of a credential. */
const NEEDLESS_ESCAPE = /\\u00[2-7]/u;

/** Returns the body for the log. One with credentials is logged as it was parsed: as received, it can escape a credential, or repeat a key. */
export function requestTextOf(
  { requestBody, requestText }: Pick<RequestEntry, 'requestBody' | 'requestText'>,
  { expected, tooMany }: RequestSecrets,
): string | undefined {
  if (tooMany !== undefined || requestBody === undefined) return requestText;
  return expected || (requestText !== undefined && NEEDLESS_ESCAPE.test(requestText))
    ? JSON.stringify(requestBody)
    : requestText;
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

function tagTexts(tags: RequestEntry['tags'], show: Show, logContent: Config['logContent']): LogFields | undefined {
  if (tags === undefined || tags.size === 0 || logContent === 'none') return undefined;
  const shown = logContent === 'full' ? [...tags] : [...tags].slice(0, SHORT_TAGS);
  return Object.fromEntries(shown.map(([name, value]) => [show(name), show(value)]));
}

/** Returns undefined if the value lacks nothing. */
function lossesOf(losses: RequestEntry['losses']): RequestEntry['losses'] {
  return losses === undefined || Object.values(losses).every((count) => count === 0) ? undefined : losses;
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
  return ms === undefined ? undefined : tenths(ms);
}
