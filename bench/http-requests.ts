const HEADER_END = Buffer.from('\r\n\r\n');

/** Calls `onRequest` for each whole HTTP/1.1 request in the bytes of a connection. Expects bodies with Content-Length only. */
export class HttpRequests {
  readonly #onRequest: (request: Buffer) => void;
  #pending: Buffer = Buffer.alloc(0);

  constructor(onRequest: (request: Buffer) => void) {
    this.#onRequest = onRequest;
  }

  push(data: Buffer): void {
    this.#pending = this.#pending.length === 0 ? data : Buffer.concat([this.#pending, data]);
    for (let end = requestEnd(this.#pending); end > 0; end = requestEnd(this.#pending)) {
      this.#onRequest(this.#pending.subarray(0, end));
      this.#pending = this.#pending.subarray(end);
    }
  }
}

/** Length of the first whole request in `data`, 0 while it is incomplete. */
function requestEnd(data: Buffer): number {
  const headerEnd = data.indexOf(HEADER_END);
  if (headerEnd < 0) return 0;
  const match = /content-length: *(\d+)/i.exec(data.toString('latin1', 0, headerEnd));
  const end = headerEnd + HEADER_END.length + Number(match?.[1] ?? 0);
  return end <= data.length ? end : 0;
}
