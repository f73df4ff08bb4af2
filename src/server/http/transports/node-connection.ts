import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request as node:http reports it. */
export interface NativeExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** A running request. */
interface Running {
  /** True if the request has arrived completely and its answer is outstanding. */
  readonly awaitsAnswer: boolean;
}

type Run = (native: NativeExchange, connection: NodeConnection) => Running;

/**
 * The most requests of one connection that wait for earlier answers, and the most that svc discards. Clients that pipeline
 * keep about ten requests in flight, and each one takes about 20 KB.
 */
const MAX_WAITING = 16;

/**
 * Runs the requests of one connection one after another. node:http emits pipelined requests at the same time, and reports the
 * end of the connection to the first one only: all of them would run, and all but one would not notice that the client left.
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

  /** True while a request with a complete body is running: data that arrives does not belong to it. */
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

  /** Runs no further request, because the bytes that follow cannot be trusted. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.length = 0;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Call this when the answer was sent or the client left. `isLast`: the answer ends the connection. */
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

  /** Keeps reading, because the end of the connection follows these bytes. Limited, because node:http keeps each request. */
  #discard({ incoming }: NativeExchange): void {
    incoming.resume();
    this.#discarded += 1;
    if (this.#discarded > MAX_WAITING) this.#socket.destroy();
  }
}

/** A larger body would pause the connection and hide its end. */
function isBuffered(incoming: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = incoming.headers;
  return encoding === undefined && Number(length) < incoming.readableHighWaterMark;
}
