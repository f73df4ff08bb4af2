const HEAD_END = '\r\n\r\n';

/** Reads the responses of one HTTP/1.1 connection with little work: bodies of ASCII, with Content-Length or in chunks. */
export class ResponseReader {
  /** Hears of each part of a body: a whole chunk, or the whole body if it has a length. */
  readonly #onPart: (part: string) => void;
  readonly #onEnd: (status: number, isLast: boolean) => void;
  #text = '';
  /** 0 outside a response. */
  #status = 0;
  /** The server closes the connection after this response. */
  #isLast = false;
  /** -1 for chunks. */
  #length = 0;
  /** The line break after a chunk follows. */
  #afterChunk = false;

  constructor(onPart: (part: string) => void, onEnd: (status: number, isLast: boolean) => void) {
    this.#onPart = onPart;
    this.#onEnd = onEnd;
  }

  push(data: Buffer): void {
    this.#text += data.toString('latin1');
    while (this.#status === 0 ? this.#readHead() : this.#readPart());
  }

  #readHead(): boolean {
    const end = this.#text.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = this.#take(end + HEAD_END.length);
    this.#status = Number(head.slice(9, 12));
    this.#isLast = /connection: *close/i.test(head);
    const length = /content-length: *(\d+)/i.exec(head)?.[1];
    this.#length = length === undefined ? -1 : Number(length);
    return true;
  }

  /** False if more bytes are needed. */
  #readPart(): boolean {
    if (this.#length < 0) return this.#readChunk();
    if (this.#text.length < this.#length) return false;
    this.#onPart(this.#take(this.#length));
    this.#end();
    return true;
  }

  /** Servers can send the line break after a chunk together with the next one, so it does not delay the part. */
  #readChunk(): boolean {
    const begin = this.#afterChunk ? 2 : 0;
    const line = this.#text.indexOf('\r\n', begin);
    if (line < 0) return false;
    const size = Number.parseInt(this.#text.slice(begin, line), 16);
    if (Number.isNaN(size)) throw new Error(`not a chunk: ${this.#text.slice(0, 50)}`);
    const end = line + 2 + size;
    if (this.#text.length < (size === 0 ? end + 2 : end)) return false;
    this.#afterChunk = size > 0;
    if (size > 0) this.#onPart(this.#take(end).slice(line + 2));
    else {
      this.#take(end + 2);
      this.#end();
    }
    return true;
  }

  #end(): void {
    const status = this.#status;
    this.#status = 0;
    this.#onEnd(status, this.#isLast);
  }

  #take(length: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }
}
