// Entry file: the least that one call can cost on this machine: uWebSockets.js, JSON.parse of the request, one provider
// call by undici's pool dispatch, JSON.stringify of the value. No prompt, no checks, no tolerant parsing, no logs.
// It has the process layout of `svc serve`: a primary and two workers on one port.
//
// Usage: floor.js <port> <address of the fake provider>
import cluster from 'node:cluster';
import { App, type HttpResponse } from 'uWebSockets.js';
import { Pool, type Dispatcher } from 'undici';

const WORKERS = 2;
const [port = '', provider = ''] = process.argv.slice(2);

if (cluster.isPrimary) {
  for (let index = 0; index < WORKERS; index += 1) cluster.fork();
  process.on('SIGTERM', () => process.exit(0));
} else {
  serve(new Pool(provider, { connections: 1024, pipelining: 1 }));
}

function serve(pool: Pool): void {
  const app = App();
  app.get('/_debug/ping', (response) => {
    response.end('{"status":"ok"}');
  });
  app.post('/call/:function', (response, request) => {
    const name = request.getParameter(0) ?? '';
    const call = new FloorCall(response);
    readBody(response, (body) => {
      callProvider(pool, `/${name}/burst/v1/chat/completions`, requestBody(body), call);
    });
  });
  app.listen(Number(port), (socket) => {
    if (socket === false) throw new Error(`cannot listen on ${port}`);
  });
}

function readBody(response: HttpResponse, done: (body: string) => void): void {
  let text = '';
  response.onData((chunk, isLast) => {
    text += Buffer.from(chunk).toString();
    if (isLast) done(text);
  });
}

function requestBody(body: string): string {
  const { text } = JSON.parse(body) as { readonly text: string };
  const messages = [
    { role: 'system', content: 'Read the message and answer with what it says.' },
    { role: 'user', content: text },
  ];
  return JSON.stringify({ model: 'bench-model', messages });
}

const PROVIDER_HEADERS = { 'content-type': 'application/json', authorization: 'Bearer bench' };

function callProvider(pool: Pool, path: string, body: string, call: FloorCall): void {
  pool.dispatch({ path, method: 'POST', headers: PROVIDER_HEADERS, body }, call);
}

/** Collects the provider's answer and sends the value in it. */
class FloorCall implements Dispatcher.DispatchHandler {
  readonly #response: HttpResponse;
  readonly #chunks: Buffer[] = [];
  #aborted = false;

  /** Create it before the route's handler returns: without `onAborted` by then, uWebSockets.js ends the process. */
  constructor(response: HttpResponse) {
    this.#response = response;
    response.onAborted(() => {
      this.#aborted = true;
    });
  }

  onRequestStart(): void {}

  onResponseStart(): void {}

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const value = valueIn((only ?? Buffer.concat(this.#chunks)).toString());
    this.#send('200 OK', JSON.stringify(value));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#send('502 Bad Gateway', error.message);
  }

  #send(status: string, body: string): void {
    if (this.#aborted) return;
    this.#response.cork(() => {
      this.#response.writeStatus(status).writeHeader('content-type', 'application/json').end(body);
    });
  }
}

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

function valueIn(body: string): unknown {
  const completion = JSON.parse(body) as Completion;
  const content = completion.choices[0]?.message.content ?? '';
  return JSON.parse(content.slice(content.indexOf('{'), content.lastIndexOf('}') + 1));
}
