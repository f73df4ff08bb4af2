import type { TimeoutFailure } from '../../../schema/failure.ts';
import { HTTP_SETTINGS } from '../../../schema/providers/common-options.ts';

/**
 * Time limits of one request to a provider, in milliseconds; 0 means no limit. The deadline of the whole call also
 * applies, so none of these can make a call longer.
 */
export interface ExchangeLimits {
  /** Until the connection is established (DNS, TCP, TLS). */
  readonly connectMs: number;
  /** Streams: until the first text of the reply. */
  readonly firstTokenMs: number;
  /** Between two reads of the body. */
  readonly idleMs: number;
  /** From the start to the last byte. */
  readonly requestMs: number;
}

/** The limits of a client that sets none under `http`. */
export const DEFAULT_LIMITS: ExchangeLimits = {
  connectMs: HTTP_SETTINGS.connect_timeout_ms.default,
  firstTokenMs: HTTP_SETTINGS.time_to_first_token_timeout_ms.default,
  idleMs: HTTP_SETTINGS.idle_timeout_ms.default,
  requestMs: HTTP_SETTINGS.request_timeout_ms.default,
};

export type TimerName = TimeoutFailure['timer'];

/**
 * All time limits of one exchange on a single timer, which is set for the nearest limit and checks again when it fires.
 * Activity only moves a limit further away, so it costs a reading of the clock and never a new timer.
 * Times are on the monotonic clock (`performance.now()`).
 */
export class ExchangeClock {
  readonly #limits: ExchangeLimits;
  readonly #deadlineAt: number;
  readonly #startedAt: number;
  readonly #expired: (timer: TimerName, afterMs: number) => void;
  #connected = false;
  #connectingSince: number;
  /** No text yet, in a stream. */
  #awaitsText: boolean;
  #activeAt = 0;
  #marking = false;
  #stopped = false;
  #pausedSince = -1;
  #armedFor = Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    limits: ExchangeLimits,
    options: {
      readonly deadlineAt: number;
      /** The limit for the first text applies. */
      readonly awaitsText: boolean;
      readonly expired: (timer: TimerName, afterMs: number) => void;
    },
  ) {
    this.#limits = limits;
    this.#deadlineAt = options.deadlineAt;
    this.#awaitsText = options.awaitsText;
    this.#expired = options.expired;
    this.#startedAt = performance.now();
    this.#connectingSince = this.#startedAt;
    this.#arm(this.#startedAt);
  }

  /** The connection is established: its limit is over. */
  connected(): void {
    this.#connected = true;
  }

  /** Another connection is needed: its limit starts again. */
  connecting(): void {
    this.#connected = false;
    this.#connectingSince = performance.now();
    this.#arm(this.#connectingSince);
  }

  /** Bytes arrived. */
  active(): void {
    if (this.#marking) return;
    // One read of the socket brings hundreds of small chunks: the clock is read once for all of them. A bound method keeps its
    // optimized code, unlike an arrow function of which V8 finds no closure at a collection.
    this.#marking = true;
    inMicrotask(this.#mark.bind(this));
  }

  textArrived(): void {
    this.#awaitsText = false;
  }

  /** While svc does not read, silence is not the provider's fault. */
  paused(): void {
    this.#pausedSince = performance.now();
  }

  resumed(): void {
    if (this.#pausedSince < 0) return;
    this.#pausedSince = -1;
    this.#activeAt = performance.now();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #mark(): void {
    this.#marking = false;
    if (this.#stopped) return;
    const now = performance.now();
    const first = this.#activeAt === 0;
    this.#activeAt = now;
    if (first && this.#limits.idleMs > 0 && now + this.#limits.idleMs < this.#armedFor) this.#arm(now);
  }

  #arm(now: number): void {
    clearTimeout(this.#timer);
    let nearest = Infinity;
    for (const name of TIMERS) nearest = Math.min(nearest, this.#limitAt(name));
    this.#armedFor = nearest;
    if (nearest === Infinity) return;
    // One more millisecond: a timer can fire a fraction early. Timers of whole milliseconds have one shape, which is faster.
    const delay = Math.ceil(Math.max(0, nearest - now)) + 1;
    this.#timer = setTimeout(() => this.#check(), Math.min(delay, LONGEST_TIMER_MS));
  }

  #check(): void {
    const now = performance.now();
    for (const name of TIMERS) {
      if (now < this.#limitAt(name)) continue;
      this.stop();
      this.#expired(name, Math.round(now - this.#startedAt));
      return;
    }
    this.#arm(now);
  }

  #limitAt(name: TimerName): number {
    switch (name) {
      case 'total':
        return this.#deadlineAt;
      case 'connect':
        return this.#connected ? Infinity : after(this.#connectingSince, this.#limits.connectMs);
      case 'first_token':
        return this.#awaitsText ? after(this.#startedAt, this.#limits.firstTokenMs) : Infinity;
      case 'idle':
        return this.#idleLimitAt();
      case 'request':
        return after(this.#startedAt, this.#limits.requestMs);
    }
  }

  #idleLimitAt(): number {
    if (this.#activeAt === 0) return Infinity;
    if (this.#pausedSince >= 0) return after(performance.now(), this.#limits.idleMs);
    return after(this.#activeAt, this.#limits.idleMs);
  }
}

/** If two are due at once, the failure names the first of these. */
const TIMERS = ['total', 'connect', 'first_token', 'idle', 'request'] as const;

/** setTimeout takes 31 bits; a longer wait checks again in between. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function after(start: number, ms: number): number {
  return ms === 0 ? Infinity : start + ms;
}

const TICK_MS = 25;

/**
 * The end of a connection that the provider had already closed arrives at most one round trip after the request. 100 ms are
 * a long round trip within a continent; the retry policy covers providers farther away and those that end a connection
 * because of the request.
 */
const WINDOW_TICKS = 4;

/**
 * Measures the time in which this process could read from its sockets. A tick ends after the event loop has read everything that
 * had arrived: a process that was busy for a second does not count that second, and first sees what arrived meanwhile.
 */
export class ReadClock {
  #ticks = 0;
  #until = 0;
  #isRunning = false;

  /** Opens a window of 75 to 100 ms, and returns its end. */
  open(): number {
    this.#until = this.#ticks + WINDOW_TICKS;
    if (!this.#isRunning) this.#run();
    return this.#until;
  }

  isOpen(end: number): boolean {
    return this.#ticks < end;
  }

  /** Runs only while a window is open. */
  #run(): void {
    this.#isRunning = true;
    // The event loop runs timers before it reads, and immediates after it.
    setTimeout(() => setImmediate(this.#tick).unref(), TICK_MS).unref();
  }

  readonly #tick = (): void => {
    this.#ticks += 1;
    this.#isRunning = false;
    if (this.#ticks < this.#until) this.#run();
  };
}

const SETTLED = Promise.resolve();

/**
 * Runs `work` as a microtask, at a fraction of the cost of `queueMicrotask`, which creates an asynchronous resource for each call.
 */
export function inMicrotask(work: () => void): void {
  void SETTLED.then(work);
}
