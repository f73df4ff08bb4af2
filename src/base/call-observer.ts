/**
 * Observes one call of a function while it happens, for traces and metrics. Times are in milliseconds on the clock of
 * `performance.now()`.
 */
export interface CallObserver {
  /** Fields for every log line of the call. */
  readonly logFields?: Readonly<Record<string, string>> | undefined;
  /** The call starts. `args` are the arguments of the caller. */
  started(args: Readonly<Record<string, unknown>>): void;
  /** A prompt was rendered for a client; `error` is the code of the failure if it was not. */
  rendered(client: string, startedAt: number, error: string | undefined): void;
  /** A fallback or round-robin client passed over this member, because it cools down. */
  passedOver(client: string): void;
  /** The call sends a prompt to a model. */
  asked(request: ObservedRequest): AttemptObserver;
  /** The call starts to parse a complete reply. Returns undefined if nothing observes the parsing. */
  parsing(): ParseObserver | undefined;
}

/** A request to a model. */
export interface ObservedRequest {
  /** The name of the client. */
  readonly client: string;
  readonly provider: string;
  readonly model: string | undefined;
  /** The origin of the server, such as `https://api.example.com`; undefined without one. */
  readonly origin: string | undefined;
  /** 1 for the first request of the call. */
  readonly number: number;
  readonly streamed: boolean;
  /** The request is a re-ask: it asks for the correction of a reply. */
  readonly isReask: boolean;
  /** The caller chose the client, its model or its server, so the number of their names is unlimited. */
  readonly ofCaller: boolean;
  /** The options that the provider receives in the body. Each client has one object. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly messages: readonly ObservedMessage[];
}

export interface ObservedMessage {
  readonly role: string;
  readonly parts: ReadonlyArray<{ readonly kind: string; readonly text?: string; readonly media?: string }>;
}

/** Observes one request to a model. */
export interface AttemptObserver {
  /** The trace headers, with which the server of the model continues the trace: name, value, name, value, … */
  traceHeaders(): readonly string[];
  /** The first text of a stream arrived. */
  firstText(): void;
  /** Called once. `error` is absent if the reply is complete. */
  ended(reply: ObservedReply): void;
}

export interface ObservedReply {
  /** The code of the failure. */
  readonly error?: string;
  /** The status of the provider, if the failure has one. */
  readonly status?: number | undefined;
  readonly text?: string;
  readonly responseModel?: string;
  readonly finishReason?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly tokenDetails?: {
    readonly cachedInputTokens?: number;
    readonly cacheWrittenInputTokens?: number;
    readonly reasoningTokens?: number;
  };
}

/** Observes the parsing of one reply. */
export interface ParseObserver {
  /** The reply goes to another thread, and possibly waits for one. */
  moved(): void;
  /** A thread takes the reply. */
  taken(): void;
  /** Called once. */
  ended(outcome: ObservedParse): void;
}

export interface ObservedParse {
  /** The code of the failure; undefined if the value is complete. */
  readonly error: string | undefined;
  /** The repairs of the reply. */
  readonly flags: readonly { readonly flag: string }[];
  readonly dropped: number;
  readonly defaulted: number;
  readonly truncated?: number | undefined;
}

/** Learns from the attempts at each client which clients strategies pass over for a while. Knows clients by their names. */
export interface ClientHealth {
  /**
   * Returns the end of a client's cool-down, on the clock of `performance.now()`; undefined if strategies ask the client as usual. The
   * end is in the past while one attempt decides whether the cool-down is over.
   */
  coolingUntil(client: string): number | undefined;
  /** An attempt starts. Returns its id. */
  started(client: string): number;
  /** Called once for each attempt that started. */
  ended(client: string, id: number, end: AttemptEnd): void;
}

/** The end of an attempt: how it affects the cool-down of its client. */
export interface AttemptEnd {
  /** `ok`: the provider replied. `undecided`: the attempt does not show whether the provider works. */
  readonly outcome: 'ok' | 'failed' | 'undecided';
  /** The wait that the provider asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The client's own time of a cool-down, in milliseconds; 0: it has none. */
  readonly coolDownMs: number;
}
