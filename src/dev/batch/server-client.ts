import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';

export interface ServerAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends requests to one server over connections that stay open. */
export class ServerClient {
  /** Without a slash at the end. */
  readonly url: string;
  readonly #key: string | undefined;
  readonly #timeoutMs: number;
  readonly #agent: Agent | TlsAgent;

  constructor(url: URL, key: string | undefined, timeoutMs: number) {
    this.url = url.href.replace(/\/+$/u, '');
    this.#key = key;
    this.#timeoutMs = timeoutMs;
    const options = { keepAlive: true, maxSockets: Infinity };
    this.#agent = url.protocol === 'https:' ? new TlsAgent(options) : new Agent(options);
  }

  /** Sends a POST with the body, or a GET without one. Rejects if no complete answer arrives in time. */
  send(path: string, body?: string, headers: Readonly<Record<string, string>> = {}): Promise<ServerAnswer> {
    const send = this.url.startsWith('https:') ? httpsRequest : httpRequest;
    const own = { ...(this.#key !== undefined && { 'x-svc-api-key': this.#key }), ...headers };
    return new Promise((resolve, reject) => {
      const request = send(
        `${this.url}${path}`,
        {
          method: body === undefined ? 'GET' : 'POST',
          agent: this.#agent,
          headers: body === undefined ? own : { ...own, 'content-type': 'application/json' },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            clearTimeout(timer);
            const { statusCode: status = 0, headers: received } = response;
            resolve({ status, headers: received, text: Buffer.concat(chunks).toString() });
          });
        },
      );
      const late = (): unknown => request.destroy(new Error(`no answer within ${this.#timeoutMs} ms`));
      const timer = setTimeout(late, this.#timeoutMs);
      request.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
