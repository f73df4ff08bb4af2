import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request as node:http reports it. */
export interface NativeExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** A request that runs. */
interface Running {
  /** True while nothing but the answer is missing. */
  readonly awaitsAnswer: boolean;
}

type Run = (native: NativeExchange, connection: NodeConnection) => Running;

/**
 * Requests of one connection that wait for the answers before them, and that are discarded. Clients that pipeline keep about ten
 * requests in flight, and each one takes about 20 KB.
 */
const MAX_WAITING = 16;

/**
 * Runs the requests of one connection one after the other. node:http reports pipelined requests at once, and reports the end of
 * the connection only to the first: all of them would run, and all but one would never learn that their client left.
 */
export class NodeConnection {
  readonly #socket: Socket;
  readonly #run: Run;
  readonly #waiting: NativeExchange[] = [];
  #current: Running | undefined;
  /** No further request runs after the waiting ones. */
  #stopped = false;
  #discarded = 0;

  constructor(socket: Socket, run: Run) {
    this.#socket = socket;
    this.#run = run;
  }

  /** True while a request runs whose body is complete: whatever arrives does not belong to it. */
  get awaitsAnswer(): boolean {
    return this.#current?.awaitsAnswer ?? false;
  }

  /** Runs the request, now or after those before it. */
  take(native: NativeExchange): void {
    if (this.#stopped) this.#discard(native);
    else if (this.#current === undefined) this.#begin(native);
    else if (this.#waiting.length < MAX_WAITING && isBuffered(native.incoming)) this.#waiting.push(native);
    else {
      this.#stopped = true;
      this.#discard(native);
    }
  }

  /** Runs nothing more: the bytes that follow cannot be trusted. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.length = 0;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** To be called when an answer has left, or its client. `isLast`: the answer ends the connection. */
  ended(isLast: boolean): void {
    this.#current = undefined;
    if (isLast || this.#socket.destroyed) this.stop();
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
    else if (this.#stopped) this.#socket.destroySoon();
  }

  #begin(native: NativeExchange): void {
    this.#current = this.#run(native, this);
  }

  /** Reads on, because the end of the connection is behind these bytes; node:http keeps an object for each request. */
  #discard({ incoming }: NativeExchange): void {
    incoming.resume();
    this.#discarded += 1;
    if (this.#discarded > MAX_WAITING) this.#socket.destroy();
  }
}

/** A larger body would stop the connection from being read, and hide its end. */
function isBuffered(incoming: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = incoming.headers;
  return encoding === undefined && Number(length) < incoming.readableHighWaterMark;
}
