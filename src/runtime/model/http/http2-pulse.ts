/** The session whose pulse is taken. */
export interface PulseOwner {
  /** Sends a ping, and calls back with true when its answer arrives, or with false if it cannot be sent. */
  sendPing(done: (answered: boolean) => void): void;
  /** The session is suspect now, or not any more. */
  suspicionChanged(): void;
  /** The other side of the connection is not there any more. */
  died(): void;
  /** Called every 5 s. */
  checked(): void;
}

/** The time between two checks. */
const CHECK_MS = 5000;

/** Checks without anything from the server before svc sends a ping: 15 s. */
const SILENT_CHECKS = 3;

/** Checks without an answer to the ping before the connection is dead: 15 s, because lost packets can take seconds. */
const UNANSWERED_CHECKS = 3;

/** The time in which a session that kept a request waiting has to answer a ping: several long round trips. */
const SUSPECT_MS = 3000;

/**
 * Finds out whether the other side of a session is still there. A silent server gets a ping. If it does not answer, the
 * session is suspect at the next check, and dead after 15 s.
 *
 * Pings also find sessions that nghttp2 has ended because the server violated the protocol: Node then neither reads from
 * the connection nor reports the end. Node sends no pings after GOAWAY; from then on, the time limits of the requests
 * decide.
 */
export class Http2Pulse {
  readonly #owner: PulseOwner;
  readonly #timer: NodeJS.Timeout;
  #heard = 0;
  #heardAt = 0;
  #heardAtCheck = -1;
  #silentChecks = 0;
  #awaitsPing = false;
  #unansweredChecks = 0;
  #isSuspect = false;
  #isStopped = false;

  constructor(owner: PulseOwner) {
    this.#owner = owner;
    this.#timer = setInterval(() => afterReading(() => this.#check()), CHECK_MS);
    this.#timer.unref();
  }

  /** Counts what arrived for requests: if it has not changed since a request was sent, nothing arrived since. */
  get heard(): number {
    return this.#heard;
  }

  /** The time at which something arrived for a request, or a ping was answered; 0 before the connection has worked. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** The connection can be dead: it should take no more requests. */
  get isSuspect(): boolean {
    return this.#isSuspect;
  }

  /** Something arrived for a request. */
  hear(): void {
    this.#heard += 1;
    this.#heardAt = performance.now();
  }

  /** A request waited for nothing: the server has to answer a ping soon. */
  suspect(): void {
    if (this.#isStopped || this.#isSuspect) return;
    this.#setSuspect(true);
    this.#ping();
    this.#decideSoon(this.#heard);
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  #decideSoon(heardBefore: number): void {
    setTimeout(() => afterReading(() => this.#decide(heardBefore)), SUSPECT_MS).unref();
  }

  #decide(heardBefore: number): void {
    if (this.#isStopped || !this.#isSuspect) return;
    if (this.#heard === heardBefore) this.#owner.died();
    else this.#decideSoon(this.#heard);
  }

  #check(): void {
    if (!this.#isStopped) this.#owner.checked();
    if (this.#isStopped) return;
    const isSilent = this.#heard === this.#heardAtCheck;
    this.#heardAtCheck = this.#heard;
    this.#silentChecks = isSilent ? this.#silentChecks + 1 : 0;
    if (this.#awaitsPing && isSilent) this.#countUnanswered();
    else if (this.#silentChecks >= SILENT_CHECKS) this.#ping();
  }

  #countUnanswered(): void {
    this.#unansweredChecks += 1;
    if (this.#unansweredChecks === UNANSWERED_CHECKS) this.#owner.died();
    else this.#setSuspect(true);
  }

  #ping(): void {
    if (this.#awaitsPing || this.#isStopped) return;
    this.#awaitsPing = true;
    this.#unansweredChecks = 0;
    this.#owner.sendPing((answered) => {
      this.#awaitsPing = false;
      this.#silentChecks = 0;
      if (answered) this.#heardAt = performance.now();
      this.#setSuspect(false);
    });
  }

  #setSuspect(isSuspect: boolean): void {
    if (this.#isSuspect === isSuspect || this.#isStopped) return;
    this.#isSuspect = isSuspect;
    this.#owner.suspicionChanged();
  }
}

/** Acts after the event loop has read what arrived while the process was busy. */
function afterReading(act: () => void): void {
  setImmediate(act);
}
