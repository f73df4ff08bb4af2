import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { codeOf, messageOf } from '../../base/invariant.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Program } from '../../schema/program.ts';
import type { Violation } from '../../schema/violation.ts';
import type { RunFailure } from '../local-runtime.ts';
import type { RowAnswer } from './answers-file.ts';
import type { RowCaller } from './run-batch.ts';

/** Asks a server about its program. Fails with a sentence. */
export async function describeServer(client: ServerClient): Promise<Result<Pick<Program, 'openapi' | 'hash'>, string>> {
  try {
    const { status, headers } = await client.send('/_debug/status');
    if (status === 403) return err(WRONG_KEY);
    const hash = headers['x-svc-program'];
    const openapi = parseJson((await client.send('/openapi.json')).text);
    if (typeof hash === 'string' && isJsonObject(openapi)) return ok({ openapi: openapi as JsonObject, hash });
    return err(`${client.url} is not a server of svc: /_debug/status has status ${status}.`);
  } catch (error) {
    return err(`the server ${client.url} cannot be reached: ${reasonOf(error)}.`);
  }
}

const WRONG_KEY = 'the server refuses the key. Set SVC_API_KEY, or name another variable with --api-key-env.';

/** Waits before asking again a server that cannot be reached; the last one repeats. Together, about two minutes. */
const PAUSES_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 30_000, 30_000] as const;

export interface ServerCallerParts {
  readonly client: ServerClient;
  readonly functionName: string;
  /** The beginning of all idempotency keys. */
  readonly run: string;
  /** Receives a sentence whenever the rows begin to wait for the server. */
  readonly onPause: (sentence: string) => void;
  /** Waits this long, or until the other promise resolves. */
  readonly wait?: (ms: number, interrupted: Promise<void>) => Promise<void>;
}

/**
 * Calls a function of a server. A row that the server refuses for the moment waits alone, so that the others use what the server
 * can do. While the server cannot be reached, all rows wait.
 */
export class ServerCaller implements RowCaller {
  readonly #parts: ServerCallerParts;
  #pause: Promise<void> | undefined;
  /** The rows that wait so long that the user knows about it. */
  #longWaits = 0;
  /** The number of calls in a row that did not reach the server. */
  #unreached = 0;
  #interrupted = false;
  #interrupt = (): void => {};
  readonly #interruption = new Promise<void>((resolve) => {
    this.#interrupt = resolve;
  });

  constructor(parts: ServerCallerParts) {
    this.#parts = parts;
  }

  async call(row: number, args: JsonObject): Promise<RowAnswer | { readonly stop: string }> {
    const { client, functionName, run } = this.#parts;
    const body = JSON.stringify(args);
    const key = `${run}-${row}`;
    for (;;) {
      while (this.#pause !== undefined) await this.#pause;
      if (this.#interrupted) return { stop: 'interrupted' };
      let answer: ServerAnswer;
      try {
        answer = await client.send(`/call/${functionName}`, body, { 'idempotency-key': key, 'x-request-id': key });
      } catch (error) {
        if (!this.#retries(reasonOf(error))) return { stop: this.#unreachable(reasonOf(error)) };
        continue;
      }
      const { status } = answer;
      const refusedFor = status === 429 || status === 503 ? retryAfterMs(answer) : undefined;
      if (refusedFor !== undefined) {
        this.#unreached = 0;
        await this.#wait(refusedFor, `it asks to wait (status ${status})`);
        continue;
      }
      const json = parseJson(answer.text);
      if (status === 200 && json !== undefined) return this.#answered(answer, json);
      const problem = status === 200 ? undefined : problemIn(json);
      if (problem === undefined) {
        // Not from svc, but from a gateway in front of it.
        const reason = `status ${status} without an error of svc`;
        if (status < 500 && status !== 429) return { stop: `the server ${client.url} answers with ${reason}.` };
        if (!this.#retries(reason)) return { stop: this.#unreachable(reason) };
        continue;
      }
      this.#unreached = 0;
      if (status === 403) return { stop: problem.code === 'Unauthorized' ? WRONG_KEY : problem.message };
      if (status === 404) return { stop: problem.message };
      return { failure: problem, ...usedBy(answer) };
    }
  }

  interrupt(): void {
    this.#interrupted = true;
    this.#interrupt();
  }

  close(): Promise<void> {
    this.#parts.client.close();
    return Promise.resolve();
  }

  #answered(answer: ServerAnswer, value: unknown): RowAnswer {
    this.#unreached = 0;
    const oneLine = /[\r\n]/u.test(answer.text) ? JSON.stringify(value) : answer.text;
    return { value: oneLine, ...usedBy(answer) };
  }

  /** Lets all rows wait. Returns false if the server has been out of reach for too long. */
  #retries(reason: string): boolean {
    // Calls that fail while the others wait belong to the same failure.
    if (this.#pause !== undefined) return true;
    const pause = PAUSES_MS[this.#unreached];
    this.#unreached += 1;
    if (pause === undefined) return false;
    this.#pause = this.#wait(pause, `it cannot be reached: ${reason}`).finally(() => {
      this.#pause = undefined;
    });
    return true;
  }

  #unreachable(reason: string): string {
    return `the server ${this.#parts.client.url} cannot be reached: ${reason}.`;
  }

  /** Waits, and reports why, unless another row waits already. */
  async #wait(ms: number, why: string): Promise<void> {
    const { onPause, client, wait = waitFor } = this.#parts;
    const isLong = ms >= REPORTED_PAUSE_MS;
    if (isLong && this.#longWaits === 0) onPause(`Waiting ${Math.ceil(ms / 1000)} s for ${client.url}: ${why}.`);
    this.#longWaits += isLong ? 1 : 0;
    await wait(ms, this.#interruption);
    this.#longWaits -= isLong ? 1 : 0;
  }
}

/** Shorter pauses are part of normal work: an overloaded server asks for one second. */
const REPORTED_PAUSE_MS = 2000;

async function waitFor(ms: number, interrupted: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    // A longer delay of setTimeout would end at once.
    timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1));
  });
  await Promise.race([waited, interrupted]);
  clearTimeout(timer);
}

/** The milliseconds that `Retry-After` asks for, as seconds or as a date (RFC 9110, 10.2.3); undefined without the header. */
function retryAfterMs({ headers }: ServerAnswer): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const ms = /^\d+$/u.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function usedBy({ headers }: ServerAnswer): Pick<RowAnswer, 'usage' | 'cost'> {
  const number = (name: string): number | undefined => {
    const value = Number(headers[name] ?? Number.NaN);
    return Number.isNaN(value) ? undefined : value;
  };
  const usage = { inputTokens: number('x-svc-input-tokens'), outputTokens: number('x-svc-output-tokens') };
  return { usage, cost: number('x-svc-cost') };
}

function problemIn(body: unknown): RunFailure | undefined {
  if (!isJsonObject(body)) return undefined;
  const { error: code, message, details } = body;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return { code, message, ...(isViolations(details) && { details }) };
}

function isViolations(value: unknown): value is readonly Violation[] {
  return Array.isArray(value) && value.every((each) => isJsonObject(each) && typeof each['message'] === 'string');
}

/** Node gives an error without a message if several addresses of a host refuse. */
function reasonOf(error: unknown): string {
  return messageOf(error) || (codeOf(error) ?? '');
}

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
