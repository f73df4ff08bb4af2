import type { JsonValue } from '../../../src/base/json.ts';
import { err, ok, type Result } from '../../../src/base/result.ts';
import type { Failure } from '../../../src/schema/errors.ts';
import type {
  CallContext,
  CallOutcome,
  CallReport,
  FunctionRuntime,
  FunctionStream,
  PreparedCall,
  StreamObserver,
} from '../../../src/runtime/call/runtime.ts';
import type { ReplyOutcome } from '../../../src/runtime/call/runtime.ts';
import { NO_LOSSES, type ParsedReply } from '../../../src/runtime/reply/reply-parser.ts';

export const REPORT: CallReport = {
  client: 'Fast',
  model: 'small-1',
  attempts: [{ client: 'Fast', outcome: 'ok', durationMs: 3 }],
  usage: { inputTokens: 12, outputTokens: 7 },
  modelMs: 3,
  flags: [],
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

/** One stream that the test controls. */
export class ScriptedStream implements FunctionStream {
  readonly context: CallContext;
  readonly observer: StreamObserver;
  partial: string | undefined;
  taken = 0;
  paused = false;

  constructor(context: CallContext, observer: StreamObserver) {
    this.context = context;
    this.observer = observer;
  }

  /** Reports model text, and this value. */
  grow(value: JsonValue): void {
    this.partial = JSON.stringify(value);
    this.observer.text();
  }

  takePartial(): string | undefined {
    const { partial } = this;
    this.partial = undefined;
    if (partial !== undefined) this.taken += 1;
    return partial;
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
  readonly calls: Array<{ readonly functionName: string; readonly context: CallContext }> = [];
  readonly bodies: unknown[] = [];
  /** The outcome of a call: now, or when the promise resolves. */
  onCall: (context: CallContext) => CallOutcome | Promise<CallOutcome> = () => success('hello');
  onLoad: () => Promise<void> | undefined = () => undefined;
  onPrepare: (body: unknown) => Result<undefined, Failure> = () => ok(undefined);
  onParse: (text: string) => ReplyOutcome = (text) => ok(reply(text));

  has(functionName: string): boolean {
    return this.functionNames.includes(functionName);
  }

  load(): Promise<void> | undefined {
    return this.onLoad();
  }

  prepare(functionName: string, body: unknown): Result<PreparedCall, Failure> {
    this.bodies.push(body);
    const outcome = this.onPrepare(body);
    return outcome.ok ? ok({ functionName }) : outcome;
  }

  async call(prepared: PreparedCall, context: CallContext): Promise<CallOutcome> {
    this.calls.push({ functionName: prepared.functionName, context });
    return this.onCall(context);
  }

  stream(_: PreparedCall, context: CallContext, observer: StreamObserver): FunctionStream {
    const stream = new ScriptedStream(context, observer);
    this.streams.push(stream);
    return stream;
  }

  render(prepared: PreparedCall): ReturnType<FunctionRuntime['render']> {
    return ok([{ role: 'user', parts: [{ kind: 'text', text: `prompt of ${prepared.functionName}` }] }]);
  }

  async parseReply(_: string, text: string): Promise<ReplyOutcome> {
    return this.onParse(text);
  }

  async close(): Promise<void> {}
}
