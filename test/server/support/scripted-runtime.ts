import type { JsonValue } from '../../../src/base/json.ts';
import { err, ok, type Result } from '../../../src/base/result.ts';
import type { Failure } from '../../../src/schema/failure.ts';
import type {
  CallContext,
  CallOrigin,
  CallOutcome,
  CallReport,
  FunctionRuntime,
  FunctionStream,
  PreparedCall,
  PreparedReply,
  StreamObserver,
  ReplyOutcome,
} from '../../../src/runtime/call/runtime.ts';
import { prepareReply } from '../../../src/runtime/call/prepare-call.ts';
import { NO_LOSSES, type ParsedReply } from '../../../src/runtime/reply/reply-parser.ts';

export const REPORT: CallReport = {
  client: 'Fast',
  model: 'small-1',
  attempts: [{ client: 'Fast', outcome: 'ok', durationMs: 3, inputTokens: 12, outputTokens: 7 }],
  usage: { inputTokens: 12, outputTokens: 7 },
  modelMs: 3,
  renderMs: 0.2,
  parseMs: 0.1,
  flags: [],
  losses: NO_LOSSES,
};

function reply(value: JsonValue): ParsedReply {
  return { value, json: JSON.stringify(value), flags: [], losses: NO_LOSSES };
}

export function success(value: JsonValue): CallOutcome {
  return { result: ok(reply(value)), report: REPORT };
}

export function failed(failure: Failure): CallOutcome {
  return { result: err(failure), report: { ...REPORT, attempts: [] } };
}

/** The outcome of a call that no caller waits for, after its model began to reply. */
function cancelled(reason: string): CallOutcome {
  const attempts = [{ client: 'Fast', outcome: 'cancelled', durationMs: 3, inputTokens: 12, outputTokens: 2 }] as const;
  const usage = { inputTokens: 12, outputTokens: 2 };
  return {
    result: err({ code: 'cancelled', message: reason }),
    report: { ...REPORT, attempts, usage, estimatedTokens: 0 },
  };
}

/** A value that lacks two members and a field of the reply; one of the members has no flag. */
export const LOSSY: ParsedReply = {
  ...reply([1]),
  flags: [
    { flag: 'markdown', path: '' },
    { flag: 'dropped-item', path: '[1]', detail: 'expected int, got null', losses: { dropped: 1, defaulted: 0 } },
    { flag: 'null-for-value', path: 'a', detail: 'expected int, got []', losses: { dropped: 0, defaulted: 1 } },
  ],
  losses: { dropped: 2, defaulted: 1 },
};

export const WARNINGS = [
  { path: '[1]', message: 'expected int, got null', kind: 'dropped' },
  { path: 'a', message: 'expected int, got []', kind: 'defaulted' },
];

/** The outcome of a call with this value. */
export function lossySuccess(): CallOutcome {
  return { result: ok(LOSSY), report: { ...REPORT, flags: LOSSY.flags, losses: LOSSY.losses } };
}

/** One stream that the test controls. */
export class ScriptedStream implements FunctionStream {
  readonly context: CallContext;
  readonly observer: StreamObserver;
  partial: string | undefined;
  taken = 0;
  paused = false;
  madeUp = false;

  constructor(context: CallContext, observer: StreamObserver) {
    this.context = context;
    this.observer = observer;
  }

  isBehind(): boolean {
    return false;
  }

  isMadeUp(): boolean {
    return this.madeUp;
  }

  /** Reports model text, and this value. */
  grow(value: JsonValue, text = 'text'): void {
    this.partial = JSON.stringify(value);
    this.observer.text(text);
  }

  takePartial(): readonly string[] | undefined {
    const { partial } = this;
    this.partial = undefined;
    if (partial === undefined) return undefined;
    this.taken += 1;
    return partial.match(/[^]{1,3000}/gu) ?? [];
  }

  coalesceReads(): void {}

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }
}

/** A runtime of three functions whose answers the test determines. */
export class ScriptedRuntime implements FunctionRuntime {
  readonly functionNames = ['Greet', 'Größe', 'Sum'];
  readonly streams: ScriptedStream[] = [];
  estimateTokens(_prepared: PreparedCall, body: string): number {
    return body.length / 4;
  }

  readonly calls: Array<{ readonly functionName: string; readonly context: CallContext }> = [];
  readonly bodies: unknown[] = [];
  /** Whether each request came from a trusted caller on this machine. */
  readonly locals: boolean[] = [];
  /** The address of the caller of each request. */
  readonly networks: Array<string | undefined> = [];
  /** The outcome of a call: now, or when the promise resolves. */
  onCall: (context: CallContext) => CallOutcome | Promise<CallOutcome> = () => success('hello');
  onLoad: () => Promise<void> | undefined = () => undefined;
  onPrepare: (body: unknown) => Result<undefined, Failure> = () => ok(undefined);
  include: PreparedCall['include'] = new Set();
  decidesUpstream = false;
  plainPartials = true;
  /** The time for which calls ask for a cache. */
  cacheTtlMs: number | undefined;
  onIdentity: (functionName: string) => string | undefined = (functionName) => functionName;
  onParse: (text: string) => ReplyOutcome = (text) => ok(reply(text));

  has(functionName: string): boolean {
    return this.functionNames.includes(functionName);
  }

  parameters(functionName: string): ReadonlySet<string> | undefined {
    if (!this.has(functionName)) return undefined;
    return new Set(functionName === 'Sum' ? [] : ['note', 'token']);
  }

  load(_: string, __: unknown, origin?: CallOrigin): Promise<undefined> | undefined {
    this.networks.push(origin?.network);
    return this.onLoad()?.then(() => undefined);
  }

  prepare(functionName: string, body: unknown, origin?: CallOrigin): Result<PreparedCall, Failure> {
    this.bodies.push(body);
    this.locals.push(origin?.local === true);
    const outcome = this.onPrepare(body);
    const { cacheTtlMs, decidesUpstream } = this;
    const include = new Set([...this.include, ...(origin?.include ?? [])]);
    return outcome.ok ? ok({ functionName, include, decidesUpstream, cacheTtlMs }) : outcome;
  }

  async call(prepared: PreparedCall, context: CallContext): Promise<CallOutcome> {
    this.calls.push({ functionName: prepared.functionName, context });
    const left = new Promise<CallOutcome>((resolve) => {
      context.cancellation.onCancel((reason) => resolve(cancelled(reason)));
    });
    return Promise.race([this.onCall(context), left]);
  }

  stream(_: PreparedCall, context: CallContext, observer: StreamObserver): FunctionStream {
    const stream = new ScriptedStream(context, observer);
    context.cancellation.onCancel((reason) => queueMicrotask(() => observer.ended(cancelled(reason))));
    this.streams.push(stream);
    return stream;
  }

  identity({ functionName }: PreparedCall): string | undefined {
    return this.onIdentity(functionName);
  }

  hasPlainPartials(): boolean {
    return this.plainPartials;
  }

  render(prepared: PreparedCall): ReturnType<FunctionRuntime['render']> {
    return ok([{ role: 'user', parts: [{ kind: 'text', text: `prompt of ${prepared.functionName}` }] }]);
  }

  prepareReply(functionName: string, body: unknown): Result<PreparedReply, Failure> {
    return prepareReply(functionName, body, { onLoss: 'accept', typeSource: undefined, loaded: undefined });
  }

  async parseReply({ text }: PreparedReply): Promise<ReplyOutcome> {
    return this.onParse(text);
  }

  connections(): ReturnType<FunctionRuntime['connections']> {
    return { origins: 0, counts: [] };
  }

  async close(): Promise<void> {}
}
