/** One `data:` message of a stream, parsed, with the time of its arrival. */
export interface StreamMessage {
  readonly data: unknown;
  readonly atMs: number;
}

export interface StreamReading {
  readonly status: number;
  readonly headers: Headers;
  readonly messages: readonly StreamMessage[];
  readonly comments: number;
  /** The raw body, for answers that are not streams. */
  readonly text: string;
}

/**
 * A server can close a connection that it kept just as a busy test sends the next request, which then fails with ECONNRESET: `fetch`
 * repeats no POST request.
 */
export const ONE_USE = { connection: 'close' };

/** Sends POST /stream/…; resolves when the headers arrive, which is at the first text. */
export function openStream(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { ...ONE_USE, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Reads a whole answer to POST /stream/…: every `data:` line as JSON, and the number of comments. */
export async function readStream(...request: Parameters<typeof openStream>): Promise<StreamReading> {
  return readMessages(await openStream(...request));
}

export async function readMessages(response: Response): Promise<StreamReading> {
  const started = performance.now();
  const messages: StreamMessage[] = [];
  let comments = 0;
  let text = '';
  let pending = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const part = decoder.decode(chunk as Uint8Array, { stream: true });
    text += part;
    pending += part;
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: ')) {
        messages.push({ data: JSON.parse(line.slice(6)) as unknown, atMs: performance.now() - started });
      } else if (line.startsWith(':')) comments += 1;
    }
  }
  return { status: response.status, headers: response.headers, messages, comments, text };
}
