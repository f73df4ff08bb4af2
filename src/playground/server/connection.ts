import { isJsonObject, parseJson } from '../../base/json.ts';
import type { ErrorBody } from './wire.ts';

const KEY_HEADER = 'x-svc-api-key';

type PageAnswer<T> =
  | { readonly ok: true; readonly value: T; readonly headers: Headers }
  | { readonly ok: false; readonly status: number; readonly problem: ErrorBody; readonly headers?: Headers };

interface GetOptions {
  readonly etag?: string | undefined;
  readonly signal?: AbortSignal;
}

/** The server that delivered the page. Addresses are relative to the page, so that a path prefix works. */
export class ServerConnection {
  /** In memory only: closing or reloading the tab removes it. Empty: the server requires none. */
  key = '';
  readonly #base: URL;

  constructor(page: string) {
    this.#base = new URL('.', page);
  }

  /** The address of an endpoint, for commands that a person copies. */
  address(path: string): string {
    return new URL(path, this.#base).href;
  }

  /** Gets a JSON document; undefined if it still has the etag. */
  async get<T>(path: string, { etag, signal }: GetOptions = {}): Promise<PageAnswer<T> | undefined> {
    const headers = etag === undefined ? {} : { 'if-none-match': etag };
    const response = await this.#fetch(path, { headers, cache: 'no-store', ...(signal !== undefined && { signal }) });
    return response instanceof Response && response.status === 304 ? undefined : answerOf<T>(response);
  }

  async post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<PageAnswer<T>> {
    return answerOf<T>(await this.open(path, body, signal));
  }

  /** Sends a body, and resolves with the response as soon as its headers are here. */
  open(path: string, body: unknown, signal?: AbortSignal): Promise<Response | ErrorBody> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return this.#fetch(path, signal === undefined ? init : { ...init, signal });
  }

  async #fetch(
    path: string,
    init: RequestInit & { readonly headers: Record<string, string> },
  ): Promise<Response | ErrorBody> {
    const headers = this.key === '' ? init.headers : { ...init.headers, [KEY_HEADER]: this.key };
    try {
      return await fetch(new URL(path, this.#base), { ...init, headers });
    } catch (error) {
      return networkProblem(error);
    }
  }
}

export async function answerOf<T>(response: Response | ErrorBody): Promise<PageAnswer<T>> {
  if (!(response instanceof Response)) return { ok: false, status: 0, problem: response };
  const { headers, ok, status } = response;
  const text = await response.text().catch((error: unknown) => networkProblem(error));
  if (typeof text !== 'string') return { ok: false, status: 0, problem: text };
  const value = parseJson(text);
  if (ok && value !== undefined) return { ok, value: value as T, headers };
  return { ok: false, status, problem: errorBodyOf(value, status), headers };
}

/** A proxy between the browser and svc can answer with a page of its own. */
export function errorBodyOf(body: unknown, status: number): ErrorBody {
  if (isJsonObject(body) && typeof body['error'] === 'string' && typeof body['message'] === 'string') {
    return body as unknown as ErrorBody;
  }
  return { error: 'not_svc', message: `The answer has status ${status} and does not come from svc.` };
}

export function networkProblem(error: unknown): ErrorBody {
  const stopped = error instanceof DOMException && error.name === 'AbortError';
  return stopped
    ? { error: 'stopped', message: 'You stopped the request.' }
    : { error: 'network', message: 'The server does not answer.' };
}
