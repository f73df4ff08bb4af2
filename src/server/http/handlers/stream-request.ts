import { inTurn } from '../../../base/own-turn.ts';
import type { CallOutcome, FunctionStream, PreparedCall, StreamObserver } from '../../../runtime/call/runtime.ts';
import { problemBody, type Problem } from '../problem.ts';
import { EventStream, type EventStreamOwner } from '../event-stream.ts';
import { lastMessage, MADE_UP_HEADER, reportHeaders, timing } from './answer-parts.ts';
import { FunctionRequest } from './function-request.ts';
import type { KeptValue } from './kept-call.ts';

/** Text is read this much after the next partial is due, because timers are inexact: that partial then includes it. */
const AFTER_DUE_MS = 2;

/** `POST /stream/{function}`: sends partial values as they grow, then one last message. */
export class StreamRequest extends FunctionRequest implements StreamObserver, EventStreamOwner {
  readonly route = 'stream';
  readonly timeoutMs = this.context.services.config.streamTimeoutMs;
  readonly limits = this.context.services.streamLimits;
  readonly backlog = this.context.services.streamBacklog;
  readonly #events = new EventStream(this.context.response, this.context.services.sweep, this);
  readonly #pace = new PartialPace(this.context.services.config.partialIntervalMs, () => this.#partialDue());
  #statusTimer: NodeJS.Timeout | undefined;
  #stream: FunctionStream | undefined;
  #partials = 0;
  /** The length of the model's text: a partial is about as long. */
  #length = 0;
  /** A large partial waits for its turn. */
  #partialWaits = false;
  /** The text of the model that the reader has not received yet; undefined unless the caller asks for the trace. */
  #text: string | undefined;
  /** The reasoning of the model that the reader has not received yet. */
  #reasoning = '';
  #sentDelta = false;

  override keepAlive(): void {
    this.#statusTimer = setTimeout(() => this.#open(), this.limits.statusWaitMs);
  }

  protected run(prepared: PreparedCall): 'later' {
    if (prepared.include.has('trace')) this.#text = '';
    this.#stream = this.context.services.runtime.stream(prepared, this.beginCall(), this);
    return 'later';
  }

  /** Called when model text arrived. */
  text(delta: string): void {
    if (this.finished) return;
    this.#length += delta.length;
    if (this.#text !== undefined) this.#text += delta;
    this.#open();
    if (this.#events.writable) this.#pace.touch();
    this.#coalesceReads();
  }

  /** Called when reasoning arrives, if the caller asks for it. */
  reasoning(delta: string): void {
    if (this.finished) return;
    this.#reasoning += delta;
    this.#open();
    if (this.#events.writable) this.#pace.touch();
  }

  reset(reason: string): void {
    this.#length = 0;
    if (this.#text !== undefined) this.#text = '';
    this.#reasoning = '';
    if (this.finished || (this.#partials === 0 && !this.#sentDelta)) return;
    this.#partials = 0;
    this.#sentDelta = false;
    this.#events.event(this.context.services.redactor.redactValues(JSON.stringify({ reset: { reason } })));
  }

  ended(outcome: CallOutcome): void {
    if (this.callEnded(outcome.report)) this.answer(() => this.#end(outcome), valueLength(outcome));
  }

  /** A reader that accepts events again gets the newest value, not the ones it missed. */
  writable(): void {
    if (this.finished) return;
    this.#stream?.resume();
    this.guarded(() => this.#pace.touch());
  }

  /** Equal calls that wait for the value do not wait for this reader: svc reads on from the model. */
  behind(): void {
    if (!this.finished && this.state.kept?.owns !== true) this.#stream?.pause();
  }

  cut(reason: string): void {
    this.context.services.metrics.streamCut();
    this.#events.abandon();
    // Only the last message was unsent.
    if (this.finished) return;
    this.cancellation.cancel(reason);
    this.left();
    const of: Problem = { status: 499, code: 'cancelled', message: reason, fields: {}, headers: [] };
    this.finish({ status: of.status, problem: of, partials: this.#partials });
  }

  protected override get openedStatus(): number | undefined {
    return this.#events.opened ? 200 : undefined;
  }

  protected answerProblem(of: Problem): void {
    this.#stop();
    if (this.#events.opened) this.#events.last(problemBody(of, this.context.requestId, this.context.services.redactor));
    else this.context.problem(of);
  }

  protected override left(): void {
    this.#stop();
    this.#events.close();
  }

  #open(): void {
    if (this.finished || this.#events.opened) return;
    clearTimeout(this.#statusTimer);
    this.#events.open(this.context.headers(this.#stream?.isMadeUp() === true ? [MADE_UP_HEADER] : []));
  }

  /** The partials of many streams are due in one turn of the event loop, and each contains the whole value so far. */
  #partialDue(): void {
    if (this.#partialWaits) return;
    this.#partialWaits = true;
    inTurn(this.#length, () => {
      this.#partialWaits = false;
      this.guarded(() => this.#sendPartial());
    });
  }

  #sendPartial(): void {
    if (this.finished || !this.#events.writable) return;
    this.#sendReasoning();
    this.#sendText();
    const partial = this.#stream?.takePartial();
    if (this.#stream?.isBehind() === true) this.#pace.readOn();
    if (partial !== undefined) {
      this.#partials += 1;
      this.#pace.sent();
      this.#events.event(['{"partial_result":', partial, '}']);
    }
    this.#coalesceReads();
  }

  #sendText(): void {
    const text = this.#text;
    if (text === undefined || text === '') return;
    this.#text = '';
    this.#sendDelta(`{"text":${JSON.stringify(text)}}`);
  }

  /** Masks the credentials that it contains completely. */
  #sendReasoning(): void {
    const reasoning = this.#reasoning;
    if (reasoning === '') return;
    this.#reasoning = '';
    const json = this.mask.facts({ reasoning });
    if (json !== undefined) this.#sendDelta(json);
  }

  #sendDelta(json: string): void {
    this.#sentDelta = true;
    this.#pace.sent();
    this.#events.event(json);
  }

  /** After the first partial, no text is needed before the next one is due. */
  #coalesceReads(): void {
    if (this.#partials > 0 && this.context.services.config.partialIntervalMs > 0)
      this.#stream?.coalesceReads(this.#pace.restMs + AFTER_DUE_MS);
  }

  #end({ result, report }: CallOutcome): void {
    if (!result.ok) {
      this.fail(result.failure, report);
      return;
    }
    this.#stop();
    if (!this.#events.opened) this.#events.open(this.context.headers(reportHeaders(report, this.context.elapsedMs)));
    if (this.#events.writable) this.#sendReasoning();
    const { json } = result.value;
    const texts = this.textsOf(result.value, report);
    this.#events.last(lastMessage(json, texts));
    this.keepValue(json, texts, report);
    this.finish({ status: 200, report, responseText: json, partials: this.#partials });
  }

  override replay({ json, texts, headers }: KeptValue, prepared: PreparedCall): void {
    this.#stop();
    this.#events.open(this.context.headers([...headers, timing(this.context.elapsedMs)]));
    const hasPartial = this.context.services.runtime.hasPlainPartials(prepared);
    if (hasPartial) this.#events.event(`{"partial_result":${json}}`);
    this.#events.last(lastMessage(json, texts));
    this.finish({ status: 200, responseText: json, partials: hasPartial ? 1 : 0 });
  }

  #stop(): void {
    clearTimeout(this.#statusTimer);
    this.#pace.stop();
  }
}

function valueLength({ result }: CallOutcome): number {
  return result.ok ? result.value.json.length : 0;
}

/** The longest distance between two slots. It adds at most this to the first interval of a stream. */
const MAX_SLOT_MS = 12.5;

/**
 * Decides when to send a partial: the first at once, then at most one per interval. With an interval of 0, each delta of text
 * sends one. The partials of all streams are due in the same slots, so that one turn of the event loop serves many streams.
 */
export class PartialPace {
  readonly #intervalMs: number;
  /** Divides the interval, so that a stream that keeps its rhythm waits for no slot. */
  readonly #slotMs: number;
  readonly #due: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** In the past: the partial is due. */
  #nextAt = -Infinity;

  constructor(intervalMs: number, due: () => void) {
    this.#intervalMs = intervalMs;
    this.#slotMs = intervalMs / Math.ceil(intervalMs / MAX_SLOT_MS);
    this.#due = due;
  }

  /** The time until the next partial is due; a whole interval if it is due already. */
  get restMs(): number {
    const wait = this.#nextAt - performance.now();
    return wait > 0 ? wait : this.#intervalMs;
  }

  /**
   * To be called for new text: calls `due` now, or soon after the end of the interval. Reads that rest until then come first, and their
   * text calls this again: otherwise, a partial could always be sent just before newer text is read, and be an interval old.
   */
  touch(): void {
    const wait = this.#nextAt - performance.now();
    if (wait > 0) this.#timer ??= setTimeout(this.#fire, wait + 2 * AFTER_DUE_MS);
    else {
      this.stop();
      this.#due();
    }
  }

  /** To be called when there is text that the last partial did not read: calls `due` later, even with an interval of 0. */
  readOn(): void {
    this.#timer ??= setTimeout(this.#fire, Math.max(1, this.#intervalMs));
  }

  /** To be called when a partial was sent. */
  sent(): void {
    if (this.#intervalMs === 0) return;
    const now = performance.now();
    const lateMs = now - this.#nextAt;
    // Another message of the same turn has begun the interval. A timer can fire a little early.
    if (lateMs < -this.#slotMs / 2) return;
    // A partial that is a little late belongs to its slot: otherwise, a busy turn would cost its last streams another slot.
    const sentAt = lateMs < this.#slotMs ? this.#nextAt : Math.ceil(now / this.#slotMs) * this.#slotMs;
    this.#nextAt = sentAt + this.#intervalMs;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #fire = (): void => {
    this.#timer = undefined;
    this.#due();
  };
}
