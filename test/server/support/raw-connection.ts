import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The parts of one answer. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A TCP connection on which tests write raw bytes. */
export class RawConnection {
  readonly socket: Socket;
  #chunks: Buffer[] = [];
  closed = false;
  #failure: Error | undefined;

  /** `from`: the address of the client, so that a test can have several callers; Linux has all of 127.0.0.0/8. */
  constructor(port: number, from = '127.0.0.1') {
    this.socket = connect({ port, host: '127.0.0.1', localAddress: from });
    this.socket.on('data', (chunk) => this.#chunks.push(chunk));
    this.socket.on('error', (error) => {
      this.#failure = error;
    });
    this.socket.on('close', () => {
      this.closed = true;
    });
  }

  write(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Waits until `done` returns true. The limit ends a test that hangs; no test depends on it. */
  async until(done: () => boolean, timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!done()) {
      if (performance.now() > deadline) throw new Error(`timed out; received: ${this.text.slice(0, 2_000)}`);
      await sleep(5);
    }
  }

  /** All bytes so far. Joined when they are read: an answer of megabytes arrives in hundreds of chunks. */
  get received(): Buffer {
    const [first = Buffer.alloc(0), ...more] = this.#chunks;
    const whole = more.length === 0 ? first : Buffer.concat([first, ...more]);
    this.#chunks = [whole];
    return whole;
  }

  get text(): string {
    return this.received.toString('latin1');
  }

  /** The complete answers so far. Pass `bodies: false` for answers to HEAD. */
  answers(bodies = true): readonly RawAnswer[] {
    const answers: RawAnswer[] = [];
    let rest = this.text;
    for (;;) {
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) return answers;
      const head = rest.slice(0, end).split('\r\n');
      const headers = new Map(head.slice(1).map((line) => headerOf(line)));
      const length = bodies ? Number(headers.get('content-length') ?? '0') : 0;
      rest = rest.slice(end + 4);
      if (rest.length < length) return answers;
      answers.push({ status: Number((head[0] ?? '').split(' ')[1]), headers, body: rest.slice(0, length) });
      rest = rest.slice(length);
    }
  }

  /** Returns the answer at `index`, counted from 0. Throws if the connection ends without it. */
  async answer(index = 0): Promise<RawAnswer> {
    await this.until(() => this.closed || this.answers().length > index);
    const answer = this.answers()[index];
    if (answer === undefined) throw new Error(`the connection ended without answer ${index}`, { cause: this.#failure });
    return answer;
  }

  end(): void {
    this.socket.destroy();
  }
}

function headerOf(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
